"""A log directory that Apache Kafka wrote opens and serves in Moldau, and Moldau's logs open and serve in Kafka.

Both from a clean stop and from a copy taken while the broker ran, which is what a crash leaves behind: indexes
with their preallocated ends, no clean-shutdown mark.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat import log_content
from compat.apache_kafka import ApacheKafka
from compat.client import HOUR_AGO_MS, OffsetSpec, Record, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.log_content import committed
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess, wait_until
from kafka_jars import KafkaJarsUnavailable

pytestmark = pytest.mark.java

UNCOMMITTED = {"isolation.level": "read_uncommitted"}
COMMITTED = {"isolation.level": "read_committed"}
OFTEN_WRITTEN_DOWN = {
    "replica.high.watermark.checkpoint.interval.ms": "100",
    "metadata.log.max.record.bytes.between.snapshots": "1000",
}
IMPATIENT = {
    "log.retention.ms": "60000",
    "log.retention.check.interval.ms": "100",
    "log.initial.task.delay.ms": "0",
}
"""A default that would leave nothing of what is an hour old."""


@dataclass(frozen=True)
class WrittenDirectory:
    path: Path
    contents: dict[str, list[Record]]
    """What each topic held, aborted records included, as a client read it from the broker that wrote it."""
    ends: dict[str, int]
    settings: dict[str, dict[str, str]]
    """What each topic was set to."""


def observed(server: ServerProcess, topics: list[str]) -> tuple[dict[str, list[Record]], dict[str, int]]:
    client = ConfluentClient(server.bootstrap)
    contents = {topic: client.consume(topic, settings=UNCOMMITTED) for topic in topics}
    ends = {topic: client.offset_for(topic, OffsetSpec.LATEST) for topic in topics}
    return contents, ends


def own_settings(server: ServerProcess, topics: list[str]) -> dict[str, dict[str, str]]:
    client = ConfluentClient(server.bootstrap)
    return {
        topic: {
            name: entry.value
            for name, entry in client.topic_config(topic).items()
            if entry.source == "DYNAMIC_TOPIC_CONFIG" and entry.value is not None
        }
        for topic in topics
    }


@pytest.fixture(scope="module")
def written_by_kafka(
    tmp_path_factory: pytest.TempPathFactory, java_driver: JavaDriver
) -> dict[str, WrittenDirectory]:
    folder = tmp_path_factory.mktemp("by-kafka")
    try:
        server = ApacheKafka(folder, log_content.BROKER_SETTINGS | OFTEN_WRITTEN_DOWN)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        java = JavaClient(java_driver, server.bootstrap)
        topics = log_content.write_codec_topics(java)
        topics.append(log_content.write_indexed_topic(java))
        topics.append(log_content.write_compacted_topic(server, java))
        topics.append(log_content.write_transactional_topic(java))
        contents, ends = observed(server, topics)
        metadata = server.log_dir / "__cluster_metadata-0"
        wait_until(lambda: any(metadata.glob("*.checkpoint")), "there is a snapshot of the metadata")
        ConfluentClient(server.bootstrap).alter_topic_config("indexed", put={"segment.bytes": "12345678"})
        settings = own_settings(server, topics)
        high_watermarks = server.log_dir / "replication-offset-checkpoint"
        last = f"transactional 0 {ends['transactional']}\n"
        wait_until(lambda: last in high_watermarks.read_text(), "the high watermarks are written down")
        server.copy_as_crashed(folder / "crashed")
    return {
        "stopped": WrittenDirectory(server.log_dir, contents, ends, settings),
        "crashed": WrittenDirectory(folder / "crashed", contents, ends, settings),
    }


@dataclass(frozen=True)
class ServedDirectory:
    written: WrittenDirectory
    server: MoldauBroker


@pytest.fixture(scope="module", params=["stopped", "crashed"])
def served(
    request: pytest.FixtureRequest,
    written_by_kafka: dict[str, WrittenDirectory],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServedDirectory]:
    """Kafka's directory in Moldau's hands."""
    written = written_by_kafka[request.param]
    server = MoldauBroker(tmp_path_factory.mktemp("served"), {"node.id": "1", **IMPATIENT})
    shutil.copytree(written.path, server.log_dir)
    with server:
        await_retention(server)
        yield ServedDirectory(written, server)


def await_retention(server: MoldauBroker) -> None:
    """Returns when old records of a topic that has the broker's default are gone."""
    client = ConfluentClient(server.bootstrap)
    client.create_topic("of-its-own")
    wait_for_topic(client, "of-its-own")
    client.produce("of-its-own", [Record(b"old", timestamp_ms=HOUR_AGO_MS)])
    wait_until(
        lambda: client.offset_for("of-its-own", OffsetSpec.EARLIEST) == 1,
        "retention has been through all logs",
    )


def test_same_settings(served: ServedDirectory) -> None:
    """And nothing is deleted for want of one: what Kafka's own default was is in no file of the directory."""
    topics = list(served.written.contents)
    assert served.written.settings["compacted"]["cleanup.policy"] == "compact"
    assert served.written.settings["indexed"]["segment.bytes"] == "12345678"
    assert own_settings(served.server, topics) == {
        topic: {"retention.ms": "-1", "retention.bytes": "-1", **served.written.settings[topic]}
        for topic in topics
    }


def test_same_records(served: ServedDirectory) -> None:
    client = ConfluentClient(served.server.bootstrap)
    assert served.written.contents.keys() <= client.list_topics()
    for topic, records in served.written.contents.items():
        assert client.consume(topic, settings=UNCOMMITTED) == records, topic


def test_same_committed_records(served: ServedDirectory) -> None:
    client = ConfluentClient(served.server.bootstrap)
    records = served.written.contents["transactional"]
    assert len(committed(records)) < len(records)
    assert client.consume("transactional", settings=COMMITTED) == committed(records)


def test_same_offsets(served: ServedDirectory) -> None:
    client = ConfluentClient(served.server.bootstrap)
    for topic, end in served.written.ends.items():
        assert client.offset_for(topic, OffsetSpec.EARLIEST) == 0
        assert client.offset_for(topic, OffsetSpec.LATEST) == end
    for segment in range(log_content.SEGMENTS):
        time_ms = HOUR_AGO_MS + segment * log_content.SEGMENT_MS * 10
        assert client.offset_for("codec-zstd", time_ms) == segment * 40
    assert client.offset_for("indexed", HOUR_AGO_MS + 123) == 123


def test_the_producers_are_known(served: ServedDirectory, java_driver: JavaDriver) -> None:
    java = JavaClient(java_driver, served.server.bootstrap)
    producers = java.call("describe_producers", topic="codec-lz4", partition=0)
    assert len(producers) == log_content.SEGMENTS
    assert {producer["last_sequence"] for producer in producers} == {39}


def test_the_logs_go_on(served: ServedDirectory) -> None:
    client = ConfluentClient(served.server.bootstrap)
    for topic in served.written.contents:
        end = client.offset_for(topic, OffsetSpec.LATEST)
        settings = {"enable.idempotence": "true", "compression.type": "lz4"}
        client.produce(topic, [Record(b"from here on", key=b"new")], settings)
        (back,) = client.consume(topic, start=end)
        assert (back.offset, back.key, back.value) == (end, b"new", b"from here on")


def test_and_open_again(served: ServedDirectory) -> None:
    before, ends = observed(served.server, list(served.written.contents))
    served.server.restart()
    assert observed(served.server, list(before)) == (before, ends)


@pytest.fixture(scope="module")
def written_by_moldau(
    tmp_path_factory: pytest.TempPathFactory, java_driver: JavaDriver
) -> dict[str, WrittenDirectory]:
    folder = tmp_path_factory.mktemp("by-moldau")
    with MoldauBroker(folder, log_content.BROKER_SETTINGS) as server:
        java = JavaClient(java_driver, server.bootstrap)
        topics = log_content.write_codec_topics(java)
        topics.append(log_content.write_indexed_topic(java))
        topics.append(log_content.write_compacted_topic(server, java))
        contents, ends = observed(server, topics)
        settings = own_settings(server, topics)
        server.copy_as_crashed(folder / "crashed")
        assert server.stop() == 0
    return {
        "stopped": WrittenDirectory(server.log_dir, contents, ends, settings),
        "crashed": WrittenDirectory(folder / "crashed", contents, ends, settings),
    }


def test_the_same_batches_make_the_same_files(
    written_by_kafka: dict[str, WrittenDirectory], written_by_moldau: dict[str, WrittenDirectory]
) -> None:
    """Byte for byte, after a clean stop; but for the topic's id, and for what a cleaner compressed anew."""
    theirs, ours = written_by_kafka["stopped"], written_by_moldau["stopped"]
    for topic in ours.contents:
        files = {
            side: {
                path.name: path.read_bytes()
                for path in (written.path / f"{topic}-0").iterdir()
                if path.suffix != ".deleted" and path.name != "partition.metadata"
            }
            for side, written in (("ours", ours), ("theirs", theirs))
        }
        assert files["ours"].keys() == files["theirs"].keys(), topic
        if topic != "compacted":
            differing = [name for name, octets in files["ours"].items() if octets != files["theirs"][name]]
            assert differing == [], topic


@pytest.mark.parametrize("state", ["stopped", "crashed"])
def test_kafka_serves_what_moldau_wrote(
    state: str, written_by_moldau: dict[str, WrittenDirectory], tmp_path: Path
) -> None:
    """Kafka knows topics from its metadata log alone, so it makes them first; then its files give way."""
    written = written_by_moldau[state]
    try:
        kafka = ApacheKafka(tmp_path)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with kafka:
        client = ConfluentClient(kafka.bootstrap)
        for topic in written.contents:
            client.create_topic(topic, configs={"cleanup.policy": "compact", **log_content.ROLLING})
            wait_for_topic(client, topic)
    for topic in written.contents:
        folder = kafka.partition_dir(topic)
        identity = (folder / "partition.metadata").read_bytes()
        shutil.rmtree(folder)
        shutil.copytree(written.path / folder.name, folder)
        (folder / "partition.metadata").write_bytes(identity)
    if state == "crashed":
        (kafka.log_dir / ".kafka_cleanshutdown").unlink()
    with kafka:
        assert observed(kafka, list(written.contents)) == (written.contents, written.ends)
        client = ConfluentClient(kafka.bootstrap)
        for topic, end in written.ends.items():
            # Not with a producer id: Kafka would give out ids again that are in these logs already.
            client.produce(topic, [Record(b"x", key=b"x")], {"enable.idempotence": "false"})
            assert client.offset_for(topic, OffsetSpec.LATEST) == end + 1
        assert "corrupt" not in kafka.log_text().lower()
