"""Rules of access and quotas hold on every broker of a cluster, and do not get into the way of the brokers."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from compat.server_process import wait_until
from moldau.coordination.security.entity_nodes import user_entity
from moldau.testing.cluster_security import Security
from moldau.testing.local_cluster import LocalCluster

BROKERS = (1, 2, 3)
TIMEOUT_S = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    users = {"admin": "admin-secret", "alice": "alice-secret", "bob": "bob-secret"}
    with LocalCluster(
        brokers=3, security=Security(protocol="SASL_PLAINTEXT", users=users, acls=True)
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def admin(cluster: LocalCluster) -> AdminClient:
    return AdminClient(cluster.client_settings("admin"))


@pytest.fixture
def topic(cluster: LocalCluster) -> str:
    name = f"orders-{uuid4().hex[:8]}"
    cluster.create_topic(name, partitions=3, replication_factor=3)
    return name


def rule(kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
    return AclBinding(
        kind, name, ResourcePatternType.LITERAL, "User:alice", "*", operation, AclPermissionType.ALLOW
    )


def allow(cluster: LocalCluster, admin: AdminClient, *rules: AclBinding) -> None:
    """Returns when every broker has them."""
    for done in admin.create_acls(list(rules), request_timeout=TIMEOUT_S).values():
        done.result()
    names = {each.name for each in rules}
    for broker in BROKERS:
        wait_until(lambda broker=broker: names <= known(cluster, broker), "all brokers have the rules")  # type: ignore[misc]


def known(cluster: LocalCluster, broker: int) -> set[str]:
    return cluster.call(broker, lambda: {rule.name for rule in cluster.broker(broker).security.rules})


def failure(producer: Producer, topic: str) -> int:
    """The error of writing to each partition, which must be the same one on each broker."""
    codes: list[int] = []
    for partition in range(3):
        producer.produce(
            topic,
            b"v",
            partition=partition,
            on_delivery=lambda error, _: codes.append(error.code() if error else 0),
        )
    assert producer.flush(TIMEOUT_S) == 0
    assert len(set(codes)) == 1, codes
    return codes[0]


def test_a_transaction_over_all_brokers(cluster: LocalCluster, admin: AdminClient, topic: str) -> None:
    """Brokers follow, verify transactions and write markers as a user of their own."""
    allow(
        cluster,
        admin,
        rule(ResourceType.TOPIC, topic, AclOperation.WRITE),
        rule(ResourceType.TOPIC, topic, AclOperation.READ),
        rule(ResourceType.GROUP, f"group-{topic}", AclOperation.READ),
        rule(ResourceType.TRANSACTIONAL_ID, f"txn-{topic}", AclOperation.WRITE),
    )
    producer = Producer(
        {**cluster.client_settings("alice"), "transactional.id": f"txn-{topic}", "acks": "all"}
    )
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    for number in range(30):
        producer.produce(topic, str(number).encode(), partition=number % 3)
    producer.commit_transaction(TIMEOUT_S)
    consumer = Consumer(
        {
            **cluster.client_settings("alice"),
            "group.id": f"group-{topic}",
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(3)])
    values: set[int] = set()
    while len(values) < 30:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None and message.error() is None, message
        values.add(int(message.value()))
    consumer.commit(asynchronous=False)
    consumer.close()
    for partition in range(3):
        wait_until(
            lambda partition=partition: len(cluster.partition(topic, partition).isr) == 3, "all follow"
        )  # type: ignore[misc]


def test_a_stranger_is_refused_by_every_broker(cluster: LocalCluster, topic: str) -> None:
    settings = cluster.client_settings("bob")
    assert topic not in AdminClient(settings).list_topics(timeout=TIMEOUT_S).topics
    assert failure(Producer(settings), topic) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    producer = Producer({**settings, "transactional.id": "t"})
    with pytest.raises(KafkaException) as refused:
        producer.init_transactions(TIMEOUT_S)
    assert refused.value.args[0].code() == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_a_rule_that_is_gone_is_gone_everywhere(
    cluster: LocalCluster, admin: AdminClient, topic: str
) -> None:
    allow(cluster, admin, rule(ResourceType.TOPIC, topic, AclOperation.WRITE))
    assert failure(Producer(cluster.client_settings("alice")), topic) == 0
    of_topic = AclBindingFilter(
        ResourceType.TOPIC,
        topic,
        ResourcePatternType.LITERAL,
        None,
        None,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    for done in admin.delete_acls([of_topic], request_timeout=TIMEOUT_S).values():
        assert len(done.result()) == 1
    for broker in BROKERS:
        wait_until(lambda broker=broker: topic not in known(cluster, broker), "no broker has the rule")  # type: ignore[misc]
    assert failure(Producer(cluster.client_settings("alice")), topic) == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_a_quota_is_in_force_on_every_broker(cluster: LocalCluster) -> None:
    def spawn_write(texts: dict[str, str]) -> None:
        broker = cluster.broker(1)
        broker.scheduler.spawn(broker.security.write_entity(user_entity("carol"), lambda _: texts))

    def are_active(expected: bool) -> bool:
        found = [
            cluster.call(each, lambda each=each: cluster.broker(each).quotas.is_active) for each in BROKERS
        ]  # type: ignore[misc]
        return found == [expected] * len(BROKERS)

    cluster.call(1, lambda: spawn_write({"producer_byte_rate": "1024"}))
    wait_until(lambda: are_active(True), "all brokers have the quota")
    cluster.call(1, lambda: spawn_write({}))
    wait_until(lambda: are_active(False), "no broker has a quota")
