"""GSSAPI with a KDC of MIT's: a client of our own over the wire, kcat and Java."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.aiokafka_client import AiokafkaClient
from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.kafka_python_client import KafkaPythonClient
from compat.kcat_client import KcatClient, KcatMissing
from compat.moldau_broker import MoldauBroker
from compat.server_process import free_port
from e2e.conversation import create_topic
from e2e.wire import WireClient
from kafka_jars import KafkaJarsUnavailable
from kerberos_kit import REALM, KerberosMissing, Realm
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest

MODULE = "com.sun.security.auth.module.Krb5LoginModule"
gssapi = pytest.importorskip("gssapi", reason="the package gssapi is not installed")


class Guarded:
    def __init__(self, folder: Path, realm: Realm) -> None:
        self.realm = realm
        self.open_port, self.port = free_port(), free_port()
        keys = realm.keys_of("kafka/localhost")
        self.alice = realm.keys_of("alice")
        self.bob = realm.keys_of("bob/admin")
        settings = {
            "listeners": f"OPEN://localhost:{self.open_port},KERBEROS://localhost:{self.port}",
            "listener.security.protocol.map": "OPEN:PLAINTEXT,KERBEROS:SASL_PLAINTEXT",
            "advertised.listeners": f"OPEN://localhost:{self.open_port},KERBEROS://localhost:{self.port}",
            "inter.broker.listener.name": "OPEN",
            "sasl.enabled.mechanisms": "GSSAPI",
            "sasl.kerberos.principal.to.local.rules": "RULE:[2:$1-$2](bob-.*),DEFAULT",
            "listener.name.kerberos.gssapi.sasl.jaas.config": (
                f'{MODULE} required useKeyTab=true storeKey=true keyTab="{keys}" principal="kafka/localhost@{REALM}";'
            ),
            "authorizer.class.name": "acl",
            "super.users": "User:ANONYMOUS;User:alice;User:bob-admin",
        }
        self.broker = MoldauBroker(folder / "broker", settings)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("kerberos")
    try:
        realm = Realm(folder)
    except KerberosMissing as reason:
        pytest.skip(str(reason))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in realm.environment.items():
            patch.setenv(name, value)
        guarded = Guarded(folder, realm)
        with realm.serving(), guarded.broker:
            yield guarded


def initiator(keys: Path, principal: str, *, is_mutual: bool = True) -> Any:
    name = gssapi.Name(principal, gssapi.NameType.kerberos_principal)
    store = {"client_keytab": str(keys), "ccache": f"MEMORY:{principal}"}
    credentials = gssapi.Credentials(name=name, usage="initiate", store=store)
    target = gssapi.Name("kafka@localhost", gssapi.NameType.hostbased_service)
    flag = gssapi.RequirementFlag
    flags = [flag.mutual_authentication] if is_mutual else []
    return gssapi.SecurityContext(
        name=target,
        creds=credentials,
        usage="initiate",
        flags=[flag.integrity, flag.replay_detection, *flags],
    )


def log_in(client: WireClient, context: Any, choice: bytes = b"\x01\0\0\0") -> Any:
    """The last answer."""
    client.call(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
    answer = tell(client, context.step())
    if not context.complete:  # The broker is asked to prove who it is, too.
        context.step(bytes(answer.auth_bytes))
        answer = tell(client, b"")
    if answer.error_code:
        return answer
    assert context.unwrap(bytes(answer.auth_bytes)).message == b"\x01\0\0\0"
    return tell(client, context.wrap(choice, False).message)


def tell(client: WireClient, message: bytes) -> Any:
    return client.call(SaslAuthenticateRequest(auth_bytes=message), 2)


@pytest.mark.parametrize("is_mutual", [True, False])
@pytest.mark.parametrize("wanted", ["", f"alice@{REALM}", "kafka@localhost"])
def test_a_login(guarded: Guarded, wanted: str, is_mutual: bool) -> None:
    with WireClient(guarded.port) as client:
        context = initiator(guarded.alice, f"alice@{REALM}", is_mutual=is_mutual)
        assert log_in(client, context, b"\x01\0\0\0" + wanted.encode()).error_code == ErrorCode.NONE
        assert client.call(DescribeClusterRequest()).error_code == ErrorCode.NONE


def test_a_name_is_made_by_rules(guarded: Guarded) -> None:
    """Only a user of that name may create topics."""
    with WireClient(guarded.port) as client:
        assert log_in(client, initiator(guarded.bob, f"bob/admin@{REALM}")).error_code == ErrorCode.NONE
        create_topic(client, "of-bob")


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (b"\x02\0\0\0", "security layer"),
        (b"", "security layer"),
    ],
)
def test_a_bad_end(guarded: Guarded, choice: bytes, reason: str) -> None:
    with WireClient(guarded.port) as client:
        answer = log_in(client, initiator(guarded.alice, f"alice@{REALM}"), choice)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert client.is_closed_by_broker()
    assert reason in guarded.broker.log_text()


@pytest.mark.parametrize("message", [b"", b"noise", b"\x60\x82" + bytes(200)])
def test_noise(guarded: Guarded, message: bytes) -> None:
    with WireClient(guarded.port) as client:
        client.call(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
        assert tell(client, message).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert client.is_closed_by_broker()


def test_a_recorded_login(guarded: Guarded) -> None:
    message = initiator(guarded.alice, f"alice@{REALM}").step()
    for code in (ErrorCode.NONE, ErrorCode.SASL_AUTHENTICATION_FAILED):
        with WireClient(guarded.port) as client:
            client.call(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
            assert tell(client, message).error_code == code


def test_kcat(guarded: Guarded) -> None:
    try:
        kcat = KcatClient(f"localhost:{guarded.port}")
    except KcatMissing as reason:
        pytest.skip(str(reason))
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.keytab": str(guarded.alice),
        "sasl.kerberos.principal": f"alice@{REALM}",
    }
    ConfluentClient(f"localhost:{guarded.open_port}").create_topic("kcat")
    kcat.produce("kcat", [Record(value=b"from kcat")], settings)
    assert [each.value for each in kcat.consume("kcat", count=1, settings=settings)] == [b"from kcat"]


@pytest.mark.parametrize("name", ["aiokafka", "kafka_python"])
def test_clients_of_python(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(guarded.alice))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path / 'tickets'}")
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
    }
    ConfluentClient(f"localhost:{guarded.open_port}").create_topic(name)
    client = {"aiokafka": AiokafkaClient, "kafka_python": KafkaPythonClient}[name](
        f"localhost:{guarded.port}"
    )
    client.produce(name, [Record(value=b"x")], settings)
    assert len(client.consume(name, count=1, settings=settings)) == 1


@pytest.mark.java
def test_java(guarded: Guarded, tmp_path: Path) -> None:
    """In a JVM of its own: Java reads the realm's configuration once."""
    try:
        driver = JavaDriver(tmp_path / "driver.log", (f"-Djava.security.krb5.conf={guarded.realm.config}",))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    client = JavaClient(driver, f"localhost:{guarded.port}")
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": (
            f'{MODULE} required useKeyTab=true storeKey=true keyTab="{guarded.alice}" principal="alice@{REALM}";'
        ),
    }
    ConfluentClient(f"localhost:{guarded.open_port}").create_topic("java")
    client.produce("java", [Record(value=b"from java")], settings)
    assert [each.value for each in client.consume("java", count=1, settings=settings)] == [b"from java"]
    driver.close()
