"""Topics are created, described, grown and deleted; what is wrong is refused with Kafka's errors."""

import time
from collections.abc import Callable

import pytest

from compat.client import AdminClient, Client, ClientFailure, Feature, Record, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient
from compat.kcat_client import KcatClient
from compat.server_process import ServerProcess, wait_until

NewTopic = Callable[..., str]


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(ClientFailure) as failure:
        action()
    return failure.value.code


def test_life_of_a_topic(broker: ServerProcess, admin_client: AdminClient, topic: str) -> None:
    assert topic not in admin_client.list_topics()
    admin_client.create_topic(topic, partitions=3)
    wait_for_topic(admin_client, topic, 3)
    assert topic in admin_client.list_topics()
    assert admin_client.partition_count(topic) == 3
    admin_client.produce(topic, [Record(b"here", partition=2)])
    assert broker.partition_dir(topic, 2).is_dir()

    admin_client.delete_topic(topic)
    wait_until(lambda: topic not in admin_client.list_topics(), "the topic is gone")
    wait_until(lambda: not broker.partition_dir(topic, 2).exists(), "its directory is gone")


def test_a_topic_made_again_is_a_new_one(java: JavaClient, topic: str) -> None:
    java.create_topic(topic)
    wait_for_topic(java, topic)
    java.produce(topic, [Record(b"old")])
    first_id = java.call("describe_topic", topic=topic)["topic_id"]
    java.delete_topic(topic)
    wait_until(lambda: topic not in java.list_topics(), "the topic is gone")
    java.create_topic(topic)
    wait_for_topic(java, topic)
    assert java.call("describe_topic", topic=topic)["topic_id"] != first_id
    assert java.consume(topic) == []
    java.produce(topic, [Record(b"new")])
    assert [(record.offset, record.value) for record in java.consume(topic)] == [(0, b"new")]


def test_description(broker: ServerProcess, java: JavaClient, topic: str) -> None:
    created = java.call("create_topic", topic=topic, partitions=2, replicas=-1, configs={})
    assert (created["partitions"], created["replicas"]) == (2, 1)
    wait_for_topic(java, topic, 2)
    described = java.call("describe_topic", topic=topic)
    assert described["topic_id"] == created["topic_id"]
    assert described["internal"] is False
    assert [partition["partition"] for partition in described["partitions"]] == [0, 1]
    assert {partition["leader_port"] for partition in described["partitions"]} == {broker.port}
    assert {(partition["replicas"], partition["isr"]) for partition in described["partitions"]} == {(1, 1)}


def test_cluster_description(broker: ServerProcess, java: JavaClient) -> None:
    cluster = java.call("describe_cluster")
    (node,) = cluster["nodes"]
    assert (node["host"], node["port"]) == ("127.0.0.1", broker.port)
    assert cluster["controller"] == node["id"]
    assert cluster["cluster_id"]


@pytest.mark.needs(Feature.DEFAULT_COUNTS)
def test_default_partition_count(admin_client: AdminClient, topic: str) -> None:
    admin_client.create_topic(topic, partitions=-1, replicas=-1)
    wait_for_topic(admin_client, topic)
    assert admin_client.partition_count(topic) == 1


@pytest.mark.parametrize(
    ("name", "partitions", "replicas", "configs", "code"),
    [
        ("bad name", 1, 1, {}, "INVALID_TOPIC_EXCEPTION"),
        ("..", 1, 1, {}, "INVALID_TOPIC_EXCEPTION"),
        ("x" * 250, 1, 1, {}, "INVALID_TOPIC_EXCEPTION"),
        ("fine", 0, 1, {}, "INVALID_PARTITIONS"),
        ("fine", 1, 2, {}, "INVALID_REPLICATION_FACTOR"),
        ("fine", 1, 1, {"no.such.key": "1"}, "INVALID_CONFIG"),
        ("fine", 1, 1, {"retention.ms": "soon"}, "INVALID_CONFIG"),
        ("fine", 1, 1, {"cleanup.policy": "shred"}, "INVALID_CONFIG"),
    ],
)
def test_refused_creation(
    java: JavaClient, name: str, partitions: int, replicas: int, configs: dict[str, str], code: str
) -> None:
    assert code_of(lambda: java.create_topic(name, partitions, configs, replicas)) == code
    assert name not in java.list_topics()


def test_names_that_exist_or_collide(admin_client: AdminClient, topic: str) -> None:
    admin_client.create_topic(topic)
    assert code_of(lambda: admin_client.create_topic(topic)) == "TOPIC_ALREADY_EXISTS"
    # Metric names turn '.' into '_', so Kafka refuses names that differ in that alone.
    assert "." in topic
    colliding = topic.replace(".", "_")
    assert code_of(lambda: admin_client.create_topic(colliding)) == "INVALID_TOPIC_EXCEPTION"


@pytest.mark.needs(Feature.UNKNOWN_TOPICS)
def test_unknown_topic(admin_client: AdminClient, topic: str) -> None:
    assert code_of(lambda: admin_client.partition_count(topic)) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert code_of(lambda: admin_client.delete_topic(topic)) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert code_of(lambda: admin_client.grow_topic(topic, 5)) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert code_of(lambda: admin_client.topic_config(topic)) == "UNKNOWN_TOPIC_OR_PARTITION"
    alter = code_of(lambda: admin_client.alter_topic_config(topic, put={"retention.ms": "1"}))
    assert alter == "UNKNOWN_TOPIC_OR_PARTITION"
    assert topic not in admin_client.list_topics()


def test_reading_an_unknown_topic(kcat: KcatClient, confluent: ConfluentClient, topic: str) -> None:
    with pytest.raises(ClientFailure, match="Unknown topic or partition"):
        kcat.consume(topic)
    assert topic not in confluent.list_topics()


def test_growing(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=2)
    admin_client.produce(topic, [Record(b"stays", partition=1)])
    admin_client.grow_topic(topic, 4)
    wait_until(lambda: admin_client.partition_count(topic) == 4, "the topic has grown")
    admin_client.produce(topic, [Record(b"in the new one", partition=3)])
    assert [record.value for record in admin_client.consume(topic, 1)] == [b"stays"]
    assert [record.value for record in admin_client.consume(topic, 3)] == [b"in the new one"]
    assert code_of(lambda: admin_client.grow_topic(topic, 4)) == "INVALID_PARTITIONS"
    assert code_of(lambda: admin_client.grow_topic(topic, 3)) == "INVALID_PARTITIONS"
    assert admin_client.partition_count(topic) == 4


def test_producing_creates_the_topic(client: Client, confluent: ConfluentClient, topic: str) -> None:
    client.produce(topic, [Record(b"first"), Record(b"second")])
    assert confluent.partition_count(topic) == 1
    assert [record.value for record in client.consume(topic)] == [b"first", b"second"]


def test_log_directories(broker: ServerProcess, java: JavaClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    java.produce(topic, [Record(b"x" * 5000)])
    broker_id = java.call("describe_cluster")["nodes"][0]["id"]
    directories = java.call("describe_log_dirs", broker=broker_id)
    (directory,) = directories.values()
    assert list(directories) == [str(broker.log_dir)]
    assert directory["sizes"][f"{topic}-0"] == (broker.partition_dir(topic) / f"{0:020}.log").stat().st_size
    assert 0 < directory["usable_bytes"] <= directory["total_bytes"]


def test_active_producers(java: JavaClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    assert java.call("describe_producers", topic=topic, partition=0) == []
    java.produce(topic, [Record(b"one"), Record(b"two")])
    (producer,) = java.call("describe_producers", topic=topic, partition=0)
    assert (producer["producer_epoch"], producer["last_sequence"]) == (0, 1)
    assert abs(producer["last_timestamp"] - time.time() * 1000) < 60_000
