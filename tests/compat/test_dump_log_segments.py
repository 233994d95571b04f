"""Kafka's own reader of log files finds nothing to complain of in the files of a broker that was stopped cleanly."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat import log_content
from compat.apache_kafka import ApacheKafka
from compat.client import CODECS, HOUR_AGO_MS, Record, wait_for_topic
from compat.java_client import JavaClient, JavaDriver
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess
from compat.stored import segment_files
from kafka_jars import KafkaJarsUnavailable

pytestmark = pytest.mark.java

FIXTURES = {"stopped", "stopped_compacted", "stopped_amid_flushes"}
PARTITIONS = 200
COMPLAINTS = re.compile(
    r"isvalid: false|mismatch|not found in the log|invalid bytes|non-consecutive|out of order|exception|error"
    r"|skipping|could not|corrupt",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class StoppedBroker:
    server: ServerProcess
    contents: dict[str, list[Record]]
    """What each topic held, as a client read it."""

    def files(self, topic: str, suffix: str) -> list[Path]:
        return segment_files(self.server.partition_dir(topic), suffix)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds = ["moldau", "kafka"] if metafunc.config.getoption("--against-kafka") else ["moldau"]
    for fixture in FIXTURES.intersection(metafunc.fixturenames):
        metafunc.parametrize(fixture, kinds, indirect=True)


@pytest.fixture(scope="module")
def stopped(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, java_driver: JavaDriver
) -> StoppedBroker:
    def write(_: ServerProcess, client: JavaClient) -> list[str]:
        return [*log_content.write_codec_topics(client), log_content.write_indexed_topic(client)]

    return write_and_stop(request.param, tmp_path_factory.mktemp("dumped"), java_driver, write)


@pytest.fixture(scope="module")
def stopped_compacted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, java_driver: JavaDriver
) -> StoppedBroker:
    def write(server: ServerProcess, client: JavaClient) -> list[str]:
        return [log_content.write_compacted_topic(server, client)]

    return write_and_stop(request.param, tmp_path_factory.mktemp("compacted"), java_driver, write)


def write_and_stop(
    kind: str, folder: Path, driver: JavaDriver, write: Callable[[ServerProcess, JavaClient], list[str]]
) -> StoppedBroker:
    broker_class = ApacheKafka if kind == "kafka" else MoldauBroker
    try:
        server = broker_class(folder, log_content.BROKER_SETTINGS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        client = JavaClient(driver, server.bootstrap)
        contents = {topic: client.consume(topic) for topic in write(server, client)}
        # A JVM that heeds the signal ends with its number.
        assert server.stop() == (143 if kind == "kafka" else 0)
    return StoppedBroker(server, contents)


def dump(driver: JavaDriver, files: list[Path], *options: str) -> str:
    assert files
    arguments = ["--files", ",".join(map(str, files)), *options]
    printed: str = driver.call("dump_log_segments", arguments=arguments)
    complaint = COMPLAINTS.search(printed)
    assert complaint is None, printed[max(0, complaint.start() - 1000) : complaint.end() + 1000]
    assert printed.count("Dumping ") == len(files)
    return printed


TOPICS = [*(f"codec-{codec}" for codec in CODECS), "indexed"]


@pytest.mark.parametrize("topic", TOPICS)
def test_logs(stopped: StoppedBroker, java_driver: JavaDriver, topic: str) -> None:
    files = stopped.files(topic, ".log")
    printed = dump(java_driver, files, "--deep-iteration", "--print-data-log")
    assert dumped_records(printed) == expected_records(stopped.contents[topic])
    if topic.startswith("codec-"):
        assert len(files) == log_content.SEGMENTS
        assert set(re.findall(r"compresscodec: (\w+)", printed)) == {topic.removeprefix("codec-")}


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_indexes(stopped: StoppedBroker, java_driver: JavaDriver, topic: str, suffix: str) -> None:
    entries = checked_index_entries(stopped, java_driver, topic, suffix)
    if topic == "indexed":
        assert len(entries) > 20


@pytest.mark.parametrize("topic", TOPICS)
def test_producer_snapshots(stopped: StoppedBroker, java_driver: JavaDriver, topic: str) -> None:
    printed = dump(java_driver, stopped.files(topic, ".snapshot"))
    assert last_produced_offset(printed) == stopped.contents[topic][-1].offset


def test_compacted(stopped_compacted: StoppedBroker, java_driver: JavaDriver) -> None:
    topic = "compacted"
    printed = dump(
        java_driver, stopped_compacted.files(topic, ".log"), "--deep-iteration", "--print-data-log"
    )
    assert dumped_records(printed) == expected_records(stopped_compacted.contents[topic])
    for suffix in (".index", ".timeindex"):
        checked_index_entries(stopped_compacted, java_driver, topic, suffix)
    snapshots = dump(java_driver, stopped_compacted.files(topic, ".snapshot"))
    assert last_produced_offset(snapshots) == stopped_compacted.contents[topic][-1].offset


def dumped_records(printed: str) -> list[tuple[int, ...]]:
    """Offset, time, size of key and of value, of each record."""
    pattern = r"^\| offset: (\d+) CreateTime: (\d+) keySize: (-?\d+) valueSize: (-?\d+)"
    return [tuple(map(int, found)) for found in re.findall(pattern, printed, re.MULTILINE)]


def expected_records(records: list[Record]) -> list[tuple[int, ...]]:
    def size(part: bytes | None) -> int:
        return -1 if part is None else len(part)

    return [
        (record.offset or 0, record.timestamp_ms or 0, size(record.key), size(record.value))
        for record in records
    ]


def checked_index_entries(stopped: StoppedBroker, driver: JavaDriver, topic: str, suffix: str) -> list[str]:
    files = stopped.files(topic, suffix)
    assert len(files) == len(stopped.files(topic, ".log"))
    sane = dump(driver, files, "--index-sanity-check")
    assert len(re.findall(r" passed sanity check\.$| is empty\.$", sane, re.MULTILINE)) == len(files)
    dump(driver, files, "--verify-index-only")
    return re.findall(r"^(?:offset|timestamp): \d+", dump(driver, files), re.MULTILINE)


def last_produced_offset(printed: str) -> int:
    producers = re.findall(
        r"^producerId: \d+ producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset: OptionalLong.empty "
        r"lastTimestamp: \d+ firstSequence: \d+ lastSequence: \d+ lastOffset: (\d+)",
        printed,
        re.MULTILINE,
    )
    return max(map(int, producers))


def test_a_complaint_would_be_seen(stopped: StoppedBroker, java_driver: JavaDriver, tmp_path: Path) -> None:
    """A flipped byte and a cut end in copies of the files: what `dump` looks for is what the tool prints."""
    (log,) = stopped.files("indexed", ".log")
    content = bytearray(log.read_bytes())
    content[-10] ^= 0xFF
    flipped, cut = tmp_path / "flipped" / log.name, tmp_path / "cut" / log.name
    for damaged, octets in ((flipped, content), (cut, content[:-20])):
        damaged.parent.mkdir()
        damaged.write_bytes(octets)
        with pytest.raises(AssertionError, match=r"isvalid: false|invalid bytes"):
            dump(java_driver, [damaged], "--print-data-log")


@pytest.fixture
def stopped_amid_flushes(
    request: pytest.FixtureRequest, tmp_path: Path, java_driver: JavaDriver
) -> StoppedBroker:
    """Every batch rolls a segment of one of many partitions, and the stop comes right after the last."""

    def write(_: ServerProcess, client: JavaClient) -> list[str]:
        records = [
            Record(
                b"x" * 100,
                partition=partition,
                timestamp_ms=HOUR_AGO_MS + segment * log_content.SEGMENT_MS * 10,
            )
            for segment in range(log_content.SEGMENTS)
            for partition in range(PARTITIONS)
        ]
        client.create_topic("rolling", PARTITIONS, log_content.ROLLING)
        wait_for_topic(client, "rolling", PARTITIONS)
        client.produce("rolling", records, {"batch.size": "0", "enable.idempotence": "true"})
        return []

    return write_and_stop(request.param, tmp_path, java_driver, write)


def test_nothing_is_missing_after_a_stop_amid_flushes(stopped_amid_flushes: StoppedBroker) -> None:
    whole = {"leader-epoch-checkpoint": 8, "partition.metadata": 43}
    for segment in range(log_content.SEGMENTS):
        whole |= {f"{segment:020}.index": 0, f"{segment:020}.timeindex": 12, f"{segment:020}.log": 170}
        whole |= {f"{segment + 1:020}.snapshot": 56}
    for partition in range(PARTITIONS):
        folder = stopped_amid_flushes.server.partition_dir("rolling", partition)
        assert {path.name: path.stat().st_size for path in folder.iterdir()} == whole, folder.name
