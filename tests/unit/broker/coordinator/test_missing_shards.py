"""A broker that stands alone begins the shards of a coordinator however their topic came about, and again after a
creation that was cut off."""

import contextlib
import socket
import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from moldau.testing import LocalCluster

DEADLINE_S: Final = 120.0
OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
SETTINGS: Final = {"offsets.topic.num.partitions": "4", "transaction.state.log.num.partitions": "4"}


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(settings=SETTINGS) as cluster:
        yield cluster


def by_metadata(cluster: LocalCluster, topic: str) -> None:
    """As a consumer does that subscribes to it."""
    Producer({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(topic, DEADLINE_S)


def by_a_client(cluster: LocalCluster, topic: str) -> None:
    client = admin(cluster)
    client.create_topics([NewTopic(topic, 3, 1)])[topic].result(DEADLINE_S)


def deleted(cluster: LocalCluster, topic: str) -> None:
    use(cluster, topic, "before")
    client = admin(cluster)
    client.delete_topics([topic])[topic].result(DEADLINE_S)


def deleted_and_created(cluster: LocalCluster, topic: str) -> None:
    deleted(cluster, topic)
    by_a_client(cluster, topic)


def grown(cluster: LocalCluster, topic: str) -> None:
    use(cluster, topic, "before")
    client = admin(cluster)
    client.create_partitions([NewPartitions(topic, 9)])[topic].result(DEADLINE_S)


def watched_by_something_that_fails(cluster: LocalCluster, topic: str) -> None:
    """The first request ends in the middle, once the topic is there."""
    failures = iter([RuntimeError("a watcher of the catalog failed")])

    def fail_once() -> None:
        for failure in failures:
            raise failure

    cluster.call(1, lambda: cluster.broker(1).catalog.watch(fail_once))


def asked_for_by_clients_that_vanish(cluster: LocalCluster, topic: str) -> None:
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    key_type = 0 if topic == OFFSETS else 1
    body = struct.pack(">hhih4sh5sb", 10, 1, 7, 4, b"test", 5, b"key-1", key_type)
    for _ in range(40):
        with socket.create_connection((host, int(port)), DEADLINE_S) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)


def admin(cluster: LocalCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def use(cluster: LocalCluster, topic: str, name: str) -> None:
    """The coordinator that keeps its state in the topic serves this name."""
    servers = {"bootstrap.servers": cluster.bootstrap_servers}
    if topic == TRANSACTIONS:
        Producer({**servers, "transactional.id": name}).init_transactions(DEADLINE_S)
        return
    consumer = Consumer({**servers, "group.id": name, "enable.auto.commit": False})
    try:
        consumer.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
        assert consumer.committed([TopicPartition("orders", 0)], DEADLINE_S)[0].offset == 7
    finally:
        consumer.close()


@pytest.mark.parametrize("topic", [OFFSETS, TRANSACTIONS])
@pytest.mark.parametrize(
    "happened",
    [
        by_metadata,
        by_a_client,
        deleted,
        deleted_and_created,
        grown,
        watched_by_something_that_fails,
        asked_for_by_clients_that_vanish,
    ],
)
def test_every_key_has_its_coordinator(
    cluster: LocalCluster, topic: str, happened: Callable[[LocalCluster, str], None]
) -> None:
    cluster.create_topic("orders")
    happened(cluster, topic)
    for number in range(6):
        use(cluster, topic, f"name-{number}")


def test_state_of_a_coordinator_that_is_begun_late_is_loaded(cluster: LocalCluster) -> None:
    """A shard that could not be loaded is loaded with what its partition has by the next request."""
    cluster.create_topic("orders")
    use(cluster, OFFSETS, "late")
    shards = cluster.broker(1).groups.shards
    for partition in range(4):
        cluster.call(1, partial(shards.resign, partition))
    servers = {"bootstrap.servers": cluster.bootstrap_servers}
    consumer = Consumer({**servers, "group.id": "late"})
    with contextlib.closing(consumer):
        assert consumer.committed([TopicPartition("orders", 0)], DEADLINE_S)[0].offset == 7


@pytest.mark.parametrize("topic", [OFFSETS, TRANSACTIONS])
def test_metadata_creates_it_as_its_coordinator_does(cluster: LocalCluster, topic: str) -> None:
    by_metadata(cluster, topic)
    entry = cluster.broker(1).catalog.find(topic)
    assert entry is not None
    assert len(entry.partitions) == 4
    assert entry.configs["cleanup.policy"] == "compact"


def test_nothing_is_begun_once_the_broker_stops(cluster: LocalCluster) -> None:
    use(cluster, TRANSACTIONS, "one")
    shards = cluster.broker(1).transactions.shards
    cluster.call(1, shards.stop)
    with pytest.raises(KafkaException):
        Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "two"}
        ).init_transactions(1.0)
    assert not list(shards)
