"""Moldau and Apache Kafka side by side: asked the same, they answer the same.

The expectation is never written down here: it is what Kafka does.
"""

import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from compat.apache_kafka import ApacheKafka
from compat.client import ClientFailure, wait_for_topic
from compat.conftest import BROKER_SETTINGS
from compat.java_client import JavaClient, JavaDriver
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def moldau(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path_factory.mktemp("moldau"), BROKER_SETTINGS) as server:
        yield server


@pytest.fixture
def both(moldau: MoldauBroker, kafka: ApacheKafka, java_driver: JavaDriver) -> tuple[JavaClient, JavaClient]:
    return JavaClient(java_driver, moldau.bootstrap), JavaClient(java_driver, kafka.bootstrap)


def outcome(action: Callable[[JavaClient], object], client: JavaClient) -> object:
    """What came back, or the code of the failure."""
    try:
        return action(client)
    except ClientFailure as failure:
        return failure.code


def created(both: tuple[JavaClient, JavaClient], topic: str, **configs: str) -> None:
    for client in both:
        client.create_topic(topic, configs={key.replace("_", "."): value for key, value in configs.items()})
        wait_for_topic(client, topic)


KNOWN_DIFFERENCES = {
    # Kafka forgets where a value comes from that is set in another unit (log.retention.hours); we tell.
    ("flush.ms", "synonyms"), ("retention.ms", "synonyms"), ("segment.jitter.ms", "synonyms"),
    ("segment.ms", "synonyms"),
    # Listeners do not change while a broker of ours runs.
    ("listener.security.protocol.map", "read_only"),
}  # fmt: skip


def differences(ours: dict[str, Any], theirs: dict[str, Any], keys: Iterable[str]) -> list[str]:
    """Which config entries differ in what, known differences aside."""
    return [
        f"{key}: {part} is {ours[key][part]}, Kafka's {theirs[key][part]}"
        for key in sorted(keys)
        for part in theirs[key]
        if ours[key][part] != theirs[key][part] and (key, part) not in KNOWN_DIFFERENCES
    ]


def test_every_topic_config(both: tuple[JavaClient, JavaClient], topic: str) -> None:
    created(both, topic, retention_ms="12345678", cleanup_policy="compact")

    def described(client: JavaClient) -> dict[str, Any]:
        entries: dict[str, Any] = client.call("describe_configs", type="TOPIC", name=topic)
        return entries

    ours, theirs = map(described, both)
    assert ours.keys() == theirs.keys()
    assert differences(ours, theirs, theirs) == []


def api_versions(server: ServerProcess) -> dict[int, tuple[int, int]]:
    """ApiVersions v0, spoken by hand: no client shows all of it."""
    request = struct.pack(">hhih", 18, 0, 7, -1)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as answers:
            (size,) = struct.unpack(">i", answers.read(4))
            body = answers.read(size)
    correlation_id, error, count = struct.unpack_from(">ihi", body)
    assert (correlation_id, error) == (7, 0)
    entries = [struct.unpack_from(">hhh", body, 10 + 6 * index) for index in range(count)]
    return {key: (lowest, highest) for key, lowest, highest in entries}


def test_api_versions(moldau: MoldauBroker, kafka: ApacheKafka) -> None:
    """What we speak we speak in all the versions Kafka does, floors included."""
    ours, theirs = api_versions(moldau), api_versions(kafka)
    assert ours.keys() <= theirs.keys()
    assert {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]} == {}


BAD_REQUESTS: list[tuple[str, Callable[[JavaClient, str], object]]] = [
    ("a topic that exists", lambda client, topic: client.create_topic(topic)),
    ("no partitions", lambda client, topic: client.create_topic(topic + "x", partitions=0)),
    ("minus two partitions", lambda client, topic: client.create_topic(topic + "x", partitions=-2)),
    ("no replicas", lambda client, topic: client.create_topic(topic + "x", replicas=0)),
    ("three replicas", lambda client, topic: client.create_topic(topic + "x", replicas=3)),
    ("an empty name", lambda client, _: client.create_topic("")),
    ("a dot", lambda client, _: client.create_topic(".")),
    ("a slash", lambda client, _: client.create_topic("a/b")),
    ("an unknown key", lambda client, topic: client.create_topic(topic + "x", configs={"x.y": "1"})),
    ("a bad number", lambda client, topic: client.create_topic(topic + "x", configs={"retention.ms": "x"})),
    ("too small", lambda client, topic: client.create_topic(topic + "x", configs={"segment.bytes": "13"})),
    ("a bad codec", lambda client, topic: client.create_topic(topic + "x", configs={"compression.type": "x"})),
    ("a bad level", lambda client, t: client.create_topic(t + "x", configs={"compression.gzip.level": "77"})),
    ("a bad list", lambda client, topic: client.create_topic(topic + "x", configs={"cleanup.policy": "a,b"})),
    ("an empty list", lambda client, topic: client.create_topic(topic + "x", configs={"cleanup.policy": ""})),
    ("a bad ratio", lambda c, topic: c.create_topic(topic + "x", configs={"min.cleanable.dirty.ratio": "2"})),
    ("remote storage", lambda c, topic: c.create_topic(topic + "x", configs={"remote.storage.enable": "true"})),
    ("growing by nothing", lambda client, topic: client.grow_topic(topic, 1)),
    ("shrinking", lambda client, topic: client.grow_topic(topic, 0)),
    ("growing what is not there", lambda client, topic: client.grow_topic(topic + "x", 2)),
    ("deleting what is not there", lambda client, topic: client.delete_topic(topic + "x")),
    ("describing what is not there", lambda client, topic: client.partition_count(topic + "x")),
    ("configs of what is not there", lambda client, topic: client.topic_config(topic + "x")),
    ("deleting records past the end", lambda client, topic: client.delete_records(topic, before=1)),
    ("deleting records before -1", lambda client, topic: client.delete_records(topic, before=-2)),
    ("altering an unknown key", lambda client, topic: client.alter_topic_config(topic, put={"x": "1"})),
    ("altering to nonsense", lambda client, topic: client.alter_topic_config(topic, put={"flush.ms": "-5"})),
    ("appending to a number", lambda client, t: client.alter_topic_config(t, append={"flush.ms": "5"})),
    ("subtracting what is absent", lambda c, t: c.alter_topic_config(t, subtract={"cleanup.policy": "compact"})),
    ("removing what is not set", lambda client, topic: client.alter_topic_config(topic, remove=["flush.ms"])),
    ("removing an unknown key", lambda client, topic: client.alter_topic_config(topic, remove=["x.y"])),
    ("lag bounds crossed", lambda client, topic: client.alter_topic_config(
        topic, put={"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"})),
    ("time of a record that is not there", lambda client, topic: client.offset_for(topic, 1)),
]  # fmt: skip


def test_answers_to_bad_requests(both: tuple[JavaClient, JavaClient], topic: str) -> None:
    created(both, topic)
    answers = {
        name: [outcome(lambda client, ask=ask: ask(client, topic), client) for client in both]  # type: ignore[misc]
        for name, ask in BAD_REQUESTS
    }
    assert {name: pair for name, pair in answers.items() if pair[0] != pair[1]} == {}
    assert [client.list_topics() & {topic, topic + "x"} for client in both] == [{topic}, {topic}]


BROKER_KEYS_THAT_DIFFER = {
    # They name the machine, the role or the listener.
    "advertised.listeners", "broker.id", "listeners", "log.dir", "log.dirs", "node.id", "process.roles",
    "controller.listener.names", "controller.quorum.bootstrap.servers", "controller.quorum.voters",
    # Set by the test so that Kafka starts quickly alone.
    "offsets.topic.num.partitions", "offsets.topic.replication.factor", "inter.broker.listener.name",
    "transaction.state.log.min.isr", "transaction.state.log.num.partitions",
    "transaction.state.log.replication.factor", "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.replication.factor",
}  # fmt: skip


def test_broker_configs_we_know_are_described_alike(both: tuple[JavaClient, JavaClient]) -> None:
    """Not every key of Kafka has a meaning here, but those we have are the same."""
    ours, theirs = (
        client.call(
            "describe_configs", type="BROKER", name=str(client.call("describe_cluster")["nodes"][0]["id"])
        )
        for client in both
    )
    known = ours.keys() & theirs.keys() - BROKER_KEYS_THAT_DIFFER
    assert len(known) > 100
    assert differences(ours, theirs, known) == []
