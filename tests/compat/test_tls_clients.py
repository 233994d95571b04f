"""Foreign clients over TLS, with and without a certificate of their own, and stores of Java's
keytool made or reads.
"""

import shutil
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from kafka import KafkaConsumer, KafkaProducer

from compat.client import Client, ClientFailure, Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.kcat_client import KcatClient, KcatMissing
from compat.moldau_broker import MoldauBroker
from moldau.security.tls.jks import JksKey, write_jks
from moldau.security.tls.stores import key_from_file, trust_from_file
from tls_files import PASSWORD, TlsFiles, make_tls_files

VALUES = [b"over TLS %d" % number for number in range(50)]


class TlsBroker(MoldauBroker):
    """Listens for TLS, and on MUTUAL for TLS with certificates of the clients."""

    def __init__(self, folder: Path, files: TlsFiles) -> None:
        super().__init__(folder)
        self._settings |= {
            "listeners": "SSL://127.0.0.1:0,MUTUAL://127.0.0.1:0",
            "listener.security.protocol.map": "SSL:SSL,MUTUAL:SSL",
            "listener.name.mutual.ssl.client.auth": "required",
            "group.initial.rebalance.delay.ms": "0",
            "offsets.topic.num.partitions": "1",
            **files.broker_settings(),
        }

    def address(self, listener: str) -> str:
        (line,) = [line for line in self.log_text().splitlines() if line.startswith("ready")]
        (found,) = [each for each in line.split() if each.startswith(f"{listener}://")]
        return found.partition("://")[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return make_tls_files(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def tls_broker(tmp_path_factory: pytest.TempPathFactory, files: TlsFiles) -> Iterator[TlsBroker]:
    with TlsBroker(tmp_path_factory.mktemp("moldau"), files) as broker:
        yield broker


@pytest.fixture(params=["SSL", "MUTUAL"])
def listener(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def user_of(listener: str) -> str | None:
    return "alice" if listener == "MUTUAL" else None


def go_round(client: Client, topic: str, settings: Mapping[str, str]) -> None:
    client.produce(topic, [Record(value) for value in VALUES], settings)
    found = client.consume(topic, count=len(VALUES), settings=settings)
    assert [record.value for record in found] == VALUES


def test_librdkafka(tls_broker: TlsBroker, files: TlsFiles, listener: str) -> None:
    address = tls_broker.address(listener)
    go_round(ConfluentClient(address), f"c-{listener}", files.librdkafka_settings(user_of(listener)))


def test_kcat(tls_broker: TlsBroker, files: TlsFiles, listener: str) -> None:
    try:
        kcat = KcatClient(tls_broker.address(listener))
    except KcatMissing as reason:
        pytest.skip(str(reason))
    go_round(kcat, f"k-{listener}", files.librdkafka_settings(user_of(listener)))


@pytest.mark.java
def test_java(tls_broker: TlsBroker, files: TlsFiles, listener: str, java_driver: JavaDriver) -> None:
    java = JavaClient(java_driver, tls_broker.address(listener))
    go_round(java, f"j-{listener}", files.java_settings(user_of(listener)))


def context_of(files: TlsFiles, user: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(files.ca))
    if user is not None:
        context.load_cert_chain(files.pem(user))
    return context


async def test_aiokafka(tls_broker: TlsBroker, files: TlsFiles, listener: str) -> None:
    secured = {
        "bootstrap_servers": tls_broker.address(listener),
        "security_protocol": "SSL",
        "ssl_context": context_of(files, user_of(listener)),
    }
    topic = f"a-{listener}"
    async with AIOKafkaProducer(**secured) as producer:
        for value in VALUES:
            await producer.send_and_wait(topic, value)
    async with AIOKafkaConsumer(topic, auto_offset_reset="earliest", **secured) as consumer:
        found = [(await consumer.getone()).value for _ in VALUES]
    assert found == VALUES


def test_kafka_python(tls_broker: TlsBroker, files: TlsFiles, listener: str) -> None:
    secured = {
        "bootstrap_servers": tls_broker.address(listener),
        "security_protocol": "SSL",
        "ssl_context": context_of(files, user_of(listener)),
    }
    topic = f"p-{listener}"
    producer = KafkaProducer(**secured)
    sent = [producer.send(topic, value) for value in VALUES]
    for each in sent:
        each.get(60)
    producer.close()
    consumer = KafkaConsumer(topic, auto_offset_reset="earliest", consumer_timeout_ms=60_000, **secured)
    found = [record.value for _, record in zip(VALUES, consumer, strict=False)]
    consumer.close()
    assert found == VALUES


def test_a_client_without_a_certificate_is_refused(tls_broker: TlsBroker, files: TlsFiles) -> None:
    client = ConfluentClient(tls_broker.address("MUTUAL"))
    settings = {**files.librdkafka_settings(), "message.timeout.ms": "3000"}
    with pytest.raises(ClientFailure):
        client.produce("refused", [Record(b"x")], settings)
    assert "the client has no certificate, and ssl.client.auth=required" in tls_broker.log_text()


def keytool(*arguments: str) -> str:
    command = shutil.which("keytool")
    if command is None:
        pytest.skip("Java's keytool is not installed")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.java
@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_stores_of_keytool(tmp_path: Path, kind: str) -> None:
    store, trust, ca = (str(tmp_path / name) for name in ("store", "trust", "ca.pem"))
    named = ["-alias", "broker", "-keystore", store, "-storepass", PASSWORD]
    make = [
        "-genkeypair",
        "-keyalg",
        "EC",
        "-storetype",
        kind,
        "-dname",
        "CN=localhost",
        "-keypass",
        PASSWORD,
    ]
    keytool(*make, *named)
    keytool("-exportcert", "-rfc", "-file", ca, *named)
    imported = ["-importcert", "-noprompt", "-alias", "ca", "-file", ca]
    keytool(*imported, "-storetype", kind, "-keystore", trust, "-storepass", PASSWORD)
    found = key_from_file(store, PASSWORD, PASSWORD)
    assert trust_from_file(trust, PASSWORD).certificates == found.chain


@pytest.mark.java
def test_keytool_reads_our_jks(tmp_path: Path, files: TlsFiles) -> None:
    found = key_from_file(str(files.pem("alice")), None, None)
    issued = files.issue("bob")
    key = issued.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    chain = (issued.certificate.public_bytes(Encoding.DER),)
    store = write_jks(PASSWORD, keys=[JksKey("bob", key, chain)], certificates=found.chain, now_ms=1)
    path = tmp_path / "store.jks"
    path.write_bytes(store)
    listed = keytool("-list", "-storetype", "JKS", "-keystore", str(path), "-storepass", PASSWORD)
    assert "bob," in listed and "PrivateKeyEntry" in listed and "trustedCertEntry" in listed
    # Java can also use the key: it takes its password to copy it into another store.
    copy = ["-importkeystore", "-noprompt", "-srckeystore", str(path), "-srcstoretype", "JKS"]
    target = ["-destkeystore", str(tmp_path / "copy.p12"), "-deststoretype", "PKCS12"]
    keytool(*copy, "-srcstorepass", PASSWORD, *target, "-deststorepass", PASSWORD, "-srcalias", "bob")
    assert key_from_file(str(tmp_path / "copy.p12"), PASSWORD, None).chain == chain
