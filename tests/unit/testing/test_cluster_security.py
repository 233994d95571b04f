"""A `LocalCluster` with TLS, logins and rules of access, in every protocol; brokers reach each other the same way."""

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

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
