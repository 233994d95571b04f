"""A `LocalCluster` with TLS, logins and rules of access, in every protocol; brokers reach each other the same way."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from moldau.testing import LocalCluster, Security

WAIT_S = 60
USERS = {"admin": 'a"dm\\in', "alice": "alice-secret"}

pytestmark = pytest.mark.slow


def go_round(settings: Mapping[str, Any], topic: str) -> None:
    failures: list[object] = []
    producer = Producer(dict(settings))
    for number in range(20):
        producer.produce(topic, b"%d" % number, on_delivery=lambda error, _: failures.append(error))
    assert producer.flush(WAIT_S) == 0
    assert failures == [None] * 20
    consumer = Consumer({**settings, "group.id": f"of-{topic}", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found: list[bytes | None] = []
    while len(found) < 20:
        message = consumer.poll(WAIT_S)
        assert message is not None and message.error() is None
        found.append(message.value())
    consumer.close()
    assert sorted(found, key=str) == sorted((b"%d" % number for number in range(20)), key=str)


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_brokers_replicate_and_clients_get_in(protocol: str) -> None:
    with LocalCluster(brokers=3, security=Security(protocol=protocol, users=USERS)) as cluster:
        for topic in ("orders", "again"):
            cluster.create_topic(topic, replication_factor=3)
        go_round(cluster.client_settings("alice"), "orders")
        assert len(cluster.partition("orders").isr) == 3
        cluster.kill(cluster.leader("orders"))
        go_round(cluster.client_settings("admin", mechanism="PLAIN"), "again")


def test_a_wrong_password_and_no_certificate_are_refused() -> None:
    for security in (Security(users=USERS), Security(protocol="SSL", users=USERS)):
        with LocalCluster(security=security) as cluster:
            settings = cluster.client_settings("alice")
            wrong = {
                name: text
                for name, text in settings.items()
                if "certificate" not in name and "key" not in name
            }
            if "sasl.password" in wrong:
                wrong["sasl.password"] = "guess"
            with pytest.raises(KafkaException):
                AdminClient({**wrong, "log_level": 0}).list_topics(timeout=3)
            AdminClient(settings).list_topics(timeout=WAIT_S)


def test_a_cluster_with_acls_lets_super_users_in() -> None:
    with LocalCluster(security=Security(users=USERS, acls=True)) as cluster:
        admin = AdminClient(cluster.client_settings("admin"))
        admin.create_topics([NewTopic("secret", 1)])["secret"].result(WAIT_S)
        alice = AdminClient(cluster.client_settings("alice"))
        with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
            alice.create_topics([NewTopic("hers", 1)])["hers"].result(WAIT_S)


def test_brokers_renew_their_logins_in_time() -> None:
    """The connections of the followers outlive several lives of a login (KIP-368)."""
    settings = {"connections.max.reauth.ms": "1500"}
    with LocalCluster(brokers=3, security=Security(users=USERS), settings=settings) as cluster:
        cluster.create_topic("orders", replication_factor=3)
        leader = cluster.leader("orders")

        def followers() -> set[str]:
            """The other end of the connections that replicas fetch over."""
            sessions: list[Any] = [
                each._session for each in cluster._brokers[leader].thread.node._net.connections
            ]
            return {each.connection.peer for each in sessions if getattr(each, "following", None)}

        cluster.wait_until(lambda: len(cluster.call(leader, followers)) == 2, "both followers fetch")
        before = cluster.call(leader, followers)
        ends = time.monotonic() + 5
        producer = Producer(cluster.client_settings("alice", mechanism="PLAIN"))
        while time.monotonic() < ends:
            producer.produce("orders", b"x")
            assert producer.flush(WAIT_S) == 0
        assert cluster.call(leader, followers) == before
        assert len(cluster.partition("orders").isr) == 3


def test_the_registry_logs_in_as_the_first_user() -> None:
    with (
        LocalCluster(security=Security(users=USERS, acls=True), registry=True) as cluster,
        SchemaRegistryClient({"url": cluster.registry_url}) as client,
    ):
        assert client.register_schema("s", Schema('"int"', "AVRO")) == 1
