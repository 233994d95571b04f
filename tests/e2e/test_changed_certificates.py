"""Certificates that change under a running cluster: by files, by settings, and the authority itself, under load."""

import shutil
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from compat.java_client import JavaDriver
from e2e.hostility import API_VERSIONS
from e2e.wire import framed
from kafka_jars import KafkaJarsUnavailable
from moldau.testing import LocalCluster, Security

pytestmark = pytest.mark.slow

WAIT_S = 60
BROKER = "broker"
LOCATION = "listener.name.sasl_ssl.ssl.keystore.location"


def serial_of(cluster: LocalCluster, address: str) -> str:
    """The number of the certificate that a new connection is shown."""
    host, _, port = address.partition(":")
    context = ssl.create_default_context(cafile=str(cluster.certificates.trust))
    with (
        socket.create_connection((host, int(port)), timeout=WAIT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        shown: Any = secured.getpeercert()
        return str(shown["serialNumber"])


def addresses(cluster: LocalCluster) -> list[str]:
    return cluster.bootstrap_servers.split(",")


def show(cluster: LocalCluster, serial: int) -> None:
    """Waits until every broker shows the certificate."""
    wanted = f"{serial:X}"
    for address in addresses(cluster):
        cluster.wait_until(
            lambda at=address: serial_of(cluster, at).lstrip("0") == wanted,  # type: ignore[misc]
            f"{address} shows the new certificate",
        )


def alter(admin: AdminClient, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    (future,) = admin.incremental_alter_configs([resource]).values()
    future.result(WAIT_S)


def described(admin: AdminClient, name: str) -> ConfigEntry:
    (future,) = admin.describe_configs([ConfigResource(ResourceType.BROKER, "1")]).values()
    found = future.result(WAIT_S)[name]
    assert isinstance(found, ConfigEntry)
    return found


def test_a_setting_names_another_key_store(tmp_path: Path) -> None:
    with LocalCluster(security=Security()) as cluster:
        admin = AdminClient(cluster.client_settings())
        other = tmp_path / "renewed.pem"
        issued = cluster.certificates.renew(BROKER)
        shutil.copy(cluster.certificates.store(BROKER), other)
        alter(admin, LOCATION, str(other))
        show(cluster, issued.certificate.serial_number)
        assert described(admin, LOCATION).value == str(other)
        alter(admin, LOCATION.replace("location", "password"), "secret")
        password = described(admin, LOCATION.replace("location", "password"))
        assert password.is_sensitive and password.value is None
        stranger = cluster.certificates.issue("stranger", ["127.0.0.1"])
        for value, reason in (
            (str(tmp_path / "missing.pem"), "No such file"),
            (str(cluster.certificates.trust), "no private key"),
            (str(cluster.certificates.store("stranger")), "ssl.allow.dn.changes"),
        ):
            with pytest.raises(KafkaException, match=reason):
                alter(admin, LOCATION, value)
        with pytest.raises(KafkaException, match="listener prefix"):
            alter(admin, "ssl.keystore.location", str(other))
        assert serial_of(cluster, addresses(cluster)[0]) != f"{stranger.certificate.serial_number:X}"


class Load:
    """Writes and reads without a break, and notes every error."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.errors: list[str] = []
        self.acknowledged = 0
        self.read = 0
        self._is_over = threading.Event()
        self._is_written = threading.Event()
        producing = {**settings, "log_level": 0, "error_cb": self._error}
        self._producer = Producer(producing)
        self._consumer = Consumer({**producing, "group.id": "load", "auto.offset.reset": "earliest"})
        self._consumer.subscribe(["load"])
        self._threads = [threading.Thread(target=self._write), threading.Thread(target=self._read)]

    def _error(self, error: KafkaError) -> None:
        # A broker that is restarted closes its connections; what matters is that none is refused afterwards.
        if error.code() in (KafkaError._SSL, KafkaError._AUTHENTICATION):
            self.errors.append(str(error))

    def _delivered(self, error: KafkaError | None, _: object) -> None:
        if error is not None:
            self.errors.append(str(error))
        self.acknowledged += 1

    def _write(self) -> None:
        while not self._is_over.is_set():
            self._producer.produce("load", b"x" * 100, on_delivery=self._delivered)
            self._producer.poll(0.005)
        self._producer.flush(WAIT_S)
        self._is_written.set()

    def _read(self) -> None:
        while not (self._is_written.is_set() and self.read >= self.acknowledged):
            message = self._consumer.poll(1)
            if message is None:
                continue
            if message.error() is not None:
                self.errors.append(str(message.error()))
            self.read += 1
        self._consumer.close()


@contextmanager
def load(settings: dict[str, Any]) -> Iterator[Load]:
    running = Load(settings)
    for thread in running._threads:
        thread.start()
    try:
        yield running
    finally:
        running._is_over.set()
        for thread in running._threads:
            thread.join(WAIT_S)
    assert running.errors == []
    assert running.read >= running.acknowledged > 0


class JavaLoad:
    """The same with Kafka's Java clients."""

    def __init__(self, cluster: LocalCluster, driver: JavaDriver) -> None:
        self._driver = driver
        known = cluster.client_settings()
        login = f'username="{known["sasl.username"]}" password="{known["sasl.password"]}"'
        settings = {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(cluster.certificates.trust),
            "sasl.mechanism": known["sasl.mechanism"],
            "sasl.jaas.config": f"org.apache.kafka.common.security.scram.ScramLoginModule required {login};",
        }
        self._call("start_load", topic="java-load", bootstrap=cluster.bootstrap_servers, settings=settings)

    @property
    def acknowledged(self) -> int:
        return int(self._call("load_state")["acknowledged"])

    def stop(self) -> None:
        end = self._call("stop_load")
        assert end["errors"] == []
        assert end["read"] >= end["acknowledged"] > 0
        refusals = ("SslAuthenticationException", "SaslAuthenticationException", "failed authentication")
        assert not any(refusal in self._driver.log_text() for refusal in refusals)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._driver.call(operation, **arguments)
        return found


@pytest.fixture
def java(tmp_path: Path) -> Iterator[JavaDriver | str]:
    """Or the reason why there is none."""
    try:
        driver = JavaDriver(tmp_path / "driver.log")
    except KafkaJarsUnavailable as reason:
        yield str(reason)
        return
    try:
        yield driver
    finally:
        driver.close()


def test_the_authority_changes_under_load(java: JavaDriver | str) -> None:
    """In three steps; after each, every broker starts again, so that everyone connects with the new files."""
    with LocalCluster(brokers=3, security=Security()) as cluster:
        for topic in ("load", "java-load"):
            cluster.create_topic(topic, partitions=3, replication_factor=3)
        certificates = cluster.certificates
        certificates.begin_rotation("the next authority")
        cluster.wait_until(lambda: trusts(cluster, 2), "the brokers trust both authorities")
        with load(cluster.client_settings()) as running, java_load(cluster, java) as others:
            certificates.switch_authority()
            show(cluster, certificates.find(BROKER).certificate.serial_number)
            restart_each(cluster, [running, *others])
            certificates.finish_rotation()
            cluster.wait_until(lambda: trusts(cluster, 1), "the brokers trust the new authority alone")
            restart_each(cluster, [running, *others])
    if isinstance(java, str):
        pytest.skip(f"only librdkafka was tried: {java}")


@contextmanager
def java_load(cluster: LocalCluster, java: JavaDriver | str) -> Iterator[list[JavaLoad]]:
    if isinstance(java, str):
        yield []
        return
    running = JavaLoad(cluster, java)
    yield [running]
    running.stop()


def trusts(cluster: LocalCluster, count: int) -> bool:
    found = []
    for number in (1, 2, 3):
        node = cluster._brokers[number].thread.node
        (tls,) = node._identities.by_listener.values()
        found.append(len(tls.client.get_ca_certs()))
    return found == [count] * 3


def restart_each(cluster: LocalCluster, loads: Sequence[Load | JavaLoad]) -> None:
    for number in (1, 2, 3):
        cluster.restart(number)
        for topic in ("load", "java-load"):
            cluster.wait_until(
                lambda name=topic: len(cluster.partition(name).isr) == 3,  # type: ignore[misc]
                f"all replicas of {topic} are in sync",
            )
        for each in loads:
            seen = each.acknowledged
            cluster.wait_until(
                lambda load=each, since=seen: load.acknowledged > since,  # type: ignore[misc]
                "the load goes on",
            )


def test_a_revoked_certificate_gets_nobody_in() -> None:
    users = {"admin": "", "alice": ""}
    with LocalCluster(security=Security(protocol="SSL", users=users)) as cluster:
        AdminClient(cluster.client_settings("alice")).list_topics(timeout=WAIT_S)
        cluster.certificates.revoke("alice")
        (address,) = addresses(cluster)

        def is_refused() -> bool:
            try:
                return not serves(cluster, address, "alice")
            except OSError:
                return True

        cluster.wait_until(is_refused, "the broker refuses alice")
        AdminClient(cluster.client_settings("admin")).list_topics(timeout=WAIT_S)
        cluster.certificates.renew("alice")
        AdminClient(cluster.client_settings("alice")).list_topics(timeout=WAIT_S)


def serves(cluster: LocalCluster, address: str, user: str) -> bool:
    """Whether a new connection with the user's certificate is answered."""
    host, _, port = address.partition(":")
    context = ssl.create_default_context(cafile=str(cluster.certificates.trust))
    context.load_cert_chain(cluster.certificates.store(user))
    with (
        socket.create_connection((host, int(port)), timeout=WAIT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        secured.sendall(framed(API_VERSIONS))
        return bool(secured.recv(4))
