"""Clusters that want TLS or a login: the client library and our own requests both get through, or say why not."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from compat.apache_kafka import ApacheKafka
from compat.server_process import free_port, wait_until
from e2e.cli.shell import COMMAND_TIMEOUT_S, Shell
from kafka_jars import KafkaJarsUnavailable

pytestmark = pytest.mark.java

PASSWORD = "geheim"  # of everything
PLAIN_JAAS = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="broker" '
    f'password="{PASSWORD}" user_me="{PASSWORD}";'
)
SCRAM_JAAS = "org.apache.kafka.common.security.scram.ScramLoginModule required;"


@dataclass(frozen=True)
class Guarded:
    shells: dict[str, Shell]
    ca: Path

    def tls(self) -> list[str]:
        return ["-X", f"ssl.ca.location={self.ca}"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Apache Kafka with a listener for each way in."""
    folder = tmp_path_factory.mktemp("guarded")
    keytool = shutil.which("keytool")
    if keytool is None:
        pytest.skip("Java's keytool is not installed")
    store, ca = folder / "broker.p12", folder / "ca.pem"
    named = ["-alias", "broker", "-keystore", str(store), "-storepass", PASSWORD]
    make = [
        "-genkeypair",
        "-keyalg",
        "EC",
        "-storetype",
        "PKCS12",
        "-dname",
        "CN=localhost",
        "-validity",
        "2",
    ]
    subprocess.run([keytool, *make, "-ext", "SAN=ip:127.0.0.1", *named], check=True, capture_output=True)
    subprocess.run(
        [keytool, "-exportcert", "-rfc", "-file", str(ca), *named], check=True, capture_output=True
    )
    names = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "CONTROLLER"]
    ports = {name: free_port() for name in names}
    settings = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(
            f"{name}:{'PLAINTEXT' if name == 'CONTROLLER' else name}" for name in names
        ),
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{ports['CONTROLLER']}",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "ssl.keystore.location": str(store),
        "ssl.keystore.password": PASSWORD,
        "ssl.key.password": PASSWORD,
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        settings[f"listener.name.{listener}.plain.sasl.jaas.config"] = PLAIN_JAAS
        for mechanism in ("scram-sha-256", "scram-sha-512"):
            settings[f"listener.name.{listener}.{mechanism}.sasl.jaas.config"] = SCRAM_JAAS
    try:
        server = ApacheKafka(folder / "kafka", settings)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    server.port = ports["PLAINTEXT"]
    with server:
        add_scram_user(server.bootstrap)
        yield Guarded({name: Shell(f"127.0.0.1:{port}") for name, port in ports.items()}, ca)


def add_scram_user(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        credential = ScramCredentialInfo(mechanism, 4096)
        change = UserScramCredentialUpsertion("me", credential, PASSWORD.encode())
        for future in admin.alter_user_scram_credentials([change]).values():
            future.result(COMMAND_TIMEOUT_S)


def login(mechanism: str, password: str = PASSWORD) -> list[str]:
    properties = {"sasl.mechanism": mechanism, "sasl.username": "me", "sasl.password": password}
    return [word for key, value in properties.items() for word in ("-X", f"{key}={value}")]


def reached(shell: Shell, *options: str) -> bool:
    """Through the client library, and through our own requests."""
    shell.run("topics", "list", *options)
    return "listeners" in shell.run("configs", "describe", "broker", "1", *options)


def test_tls(guarded: Guarded) -> None:
    shell = guarded.shells["SSL"]
    assert reached(shell, "-X", "security.protocol=ssl", *guarded.tls())
    trusting = ["-X", "security.protocol=SSL", "-X", "enable.ssl.certificate.verification=false"]
    assert reached(shell, *trusting)
    error = shell.run("groups", "list", "-X", "security.protocol=ssl", "--timeout", "5", code=1)
    assert "cannot find the brokers" in error and "certificate" in error.lower()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_login(guarded: Guarded, mechanism: str) -> None:
    shell = guarded.shells["SASL_PLAINTEXT"]
    options = ["-X", "security.protocol=sasl_plaintext"]
    wait_until(
        lambda: shell.finished("groups", "list", *options, *login(mechanism)).returncode == 0,
        "the broker knows the user",
        COMMAND_TIMEOUT_S,
    )
    assert reached(shell, *options, *login(mechanism))
    error = shell.run("groups", "list", *options, *login(mechanism, "wrong"), code=1)
    assert "cannot find the brokers: cannot log in:" in error
    assert "Check user name, password and mechanism" in error


def test_a_login_over_tls(guarded: Guarded) -> None:
    shell = guarded.shells["SASL_SSL"]
    assert reached(shell, "-X", "security.protocol=sasl_ssl", *guarded.tls(), *login("PLAIN"))


def test_a_mechanism_we_do_not_speak_ourselves(guarded: Guarded) -> None:
    shell = guarded.shells["SASL_PLAINTEXT"]
    options = ["-X", "security.protocol=sasl_plaintext", *login("GSSAPI")]
    error = shell.run("groups", "list", *options, code=1)
    assert "this command cannot log in with sasl.mechanism=GSSAPI" in error
    assert "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER" in error


def test_plaintext_where_tls_is_due(guarded: Guarded) -> None:
    error = guarded.shells["SSL"].run("groups", "list", "--timeout", "5", code=1)
    assert "speaks TLS, and security.protocol=plaintext does not" in error
    assert "Set security.protocol=ssl" in error


def test_a_login_where_none_is_due_and_the_reverse(guarded: Guarded) -> None:
    error = guarded.shells["SASL_PLAINTEXT"].run("topics", "list", code=1)
    assert "asks for a login, and security.protocol=plaintext has none" in error
    assert "sasl.mechanism (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)" in error
    options = ["-X", "security.protocol=sasl_plaintext", *login("PLAIN")]
    assert "has no logins" in guarded.shells["PLAINTEXT"].run("topics", "list", *options, code=1)
