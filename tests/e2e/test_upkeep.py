"""What a broker does to logs by itself: rolling, retention, compaction, and settings that change meanwhile."""

import contextlib
from collections.abc import Iterator

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from compat.stored import segment_files
from e2e.conversation import (
    BROKER_RESOURCE,
    EARLIEST,
    LATEST,
    TOPIC_RESOURCE,
    batch_of,
    create_topic,
    list_offset,
    metadata,
    now_ms,
    produce,
    produce_values,
    read_all,
    set_config,
    values_of,
)
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode

pytestmark = pytest.mark.slow

SMALL_SEGMENTS = {"internal.segment.bytes": "10000"}
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    settings = {
        "log.initial.task.delay.ms": "0",
        "log.retention.check.interval.ms": "50",
        "log.segment.delete.delay.ms": "50",
        "log.cleaner.backoff.ms": "50",
        "log.cleaner.dedupe.buffer.size": "2000000",
    }
    with MoldauBroker(tmp_path_factory.mktemp("broker"), settings) as broker:
        yield broker
    assert "Traceback" not in broker.log_path.read_text()


@pytest.fixture
def client(broker: MoldauBroker) -> Iterator[WireClient]:
    with WireClient(broker.port) as client:
        yield client


def produce_many(client: WireClient, topic: str, count: int, *, age_ms: int = 0) -> None:
    """Batches of about a thousand bytes."""
    for number in range(count):
        produce_values(client, topic, [b"%d" % number + bytes(900)], timestamp_ms=now_ms() - age_ms)


def bytes_on_disk(broker: MoldauBroker, topic: str) -> int:
    total = 0
    for path in broker.partition_dir(topic).glob("*.log*"):
        with contextlib.suppress(FileNotFoundError):  # a deleted one goes while we look
            total += path.stat().st_size
    return total


def test_retention_by_time(broker: MoldauBroker, client: WireClient) -> None:
    topic = "by-time"
    create_topic(client, topic, configs={**SMALL_SEGMENTS, "retention.ms": str(HOUR_MS)})
    produce_many(client, topic, 35, age_ms=2 * HOUR_MS)
    produce_many(client, topic, 35)
    wait_until(lambda: list_offset(client, topic, EARLIEST) >= 20, "old segments are deleted")
    start = list_offset(client, topic, EARLIEST)
    assert start <= 35, "nothing young is deleted"
    assert [record.offset for record in read_all(client, topic)] == list(range(start, 70))
    wait_until(lambda: not list(broker.partition_dir(topic).glob("*.deleted")), "their files are gone")


def test_retention_empties_a_log(client: WireClient) -> None:
    """The active segment goes too once everything in it is too old; offsets go on."""
    topic = "emptied"
    create_topic(client, topic, configs={"retention.ms": str(HOUR_MS)})
    produce_many(client, topic, 5, age_ms=2 * HOUR_MS)
    wait_until(lambda: list_offset(client, topic, EARLIEST) == 5, "everything is deleted")
    assert values_of(client, topic) == []
    assert produce_values(client, topic, [b"next"]) == 5


def test_retention_by_size(broker: MoldauBroker, client: WireClient) -> None:
    topic = "by-size"
    create_topic(client, topic, configs={**SMALL_SEGMENTS, "retention.bytes": "30000"})
    produce_many(client, topic, 100)
    wait_until(lambda: bytes_on_disk(broker, topic) < 45_000, "old segments are deleted")
    start = list_offset(client, topic, EARLIEST)
    assert [record.offset for record in read_all(client, topic)] == list(range(start, 100))
    assert bytes_on_disk(broker, topic) >= 30_000, "no more than needed"


def test_roll_by_time(broker: MoldauBroker, client: WireClient) -> None:
    topic = "rolled"
    create_topic(client, topic, configs={"segment.ms": "60000"})
    for age_ms in (300_000, 299_000, 200_000, 199_000, 100_000):
        produce_values(client, topic, [b"value"], timestamp_ms=now_ms() - age_ms)
    starts = [int(path.stem) for path in segment_files(broker.partition_dir(topic))]
    assert starts == [0, 2, 4]


def test_retention_changed_on_the_fly(client: WireClient) -> None:
    topic = "shortened"
    create_topic(client, topic, configs=SMALL_SEGMENTS)
    produce_many(client, topic, 40, age_ms=2 * HOUR_MS)
    assert list_offset(client, topic, EARLIEST) == 0
    set_config(client, TOPIC_RESOURCE, topic, retention_ms=str(HOUR_MS))
    wait_until(lambda: list_offset(client, topic, EARLIEST) == 40, "the new setting is obeyed")


def test_topic_limit_changed_on_the_fly(client: WireClient) -> None:
    topic = "narrowed"
    create_topic(client, topic)
    produce_values(client, topic, [bytes(5000)])
    set_config(client, TOPIC_RESOURCE, topic, max_message_bytes="1000")
    assert produce(client, topic, batch_of([bytes(5000)])).error_code == ErrorCode.MESSAGE_TOO_LARGE
    set_config(client, TOPIC_RESOURCE, topic, max_message_bytes="10000")
    produce_values(client, topic, [bytes(5000)])


def test_policy_changed_on_the_fly(client: WireClient) -> None:
    topic = "converted"
    create_topic(client, topic)
    produce_values(client, topic, [b"keyless"])
    set_config(client, TOPIC_RESOURCE, topic, cleanup_policy="compact")
    assert produce(client, topic, batch_of([b"keyless"])).error_code == ErrorCode.INVALID_RECORD
    produce_values(client, topic, [b"keyed"], key=b"key")


def test_connection_limit_changed_on_the_fly(broker: MoldauBroker, client: WireClient) -> None:
    set_config(client, BROKER_RESOURCE, "", max_connections_per_ip="1")
    with WireClient(broker.port) as refused:
        assert refused.is_closed_by_broker(timeout_s=5)
    set_config(client, BROKER_RESOURCE, "", max_connections_per_ip="1000")
    with WireClient(broker.port) as admitted:
        metadata(admitted, [])


def test_compaction(broker: MoldauBroker, client: WireClient) -> None:
    topic = "compacted"
    configs = {**SMALL_SEGMENTS, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    create_topic(client, topic, configs={**configs, "delete.retention.ms": "100"})
    written: dict[int, tuple[bytes, bytes | None]] = {}
    for round_number in range(30):
        for key in (b"a", b"b", b"c", b"deleted"):
            is_tombstone = key == b"deleted" and round_number == 20
            if key == b"deleted" and round_number > 20:
                continue
            value = None if is_tombstone else b"%d" % round_number + bytes(300)
            written[produce_values(client, topic, [value], key=key)] = (key, value)
    active_start = int(segment_files(broker.partition_dir(topic))[-1].stem)
    last = {key: offset for offset, (key, _) in written.items() if offset < active_start}
    expected = sorted({*last.values(), *(offset for offset in written if offset >= active_start)})
    expected_without_tombstone = [offset for offset in expected if written[offset][1] is not None]

    def found() -> list[int]:
        return [record.offset for record in read_all(client, topic)]

    wait_until(lambda: found() in (expected, expected_without_tombstone), "only the last of each key is left")
    for record in read_all(client, topic):
        assert (record.key, record.value) == written[record.offset]
    end = len(written)

    def tombstone_is_gone() -> bool:
        """It goes in a pass after its time is up, and a pass needs something new to clean."""
        nonlocal end
        end = produce_values(client, topic, [b"more" + bytes(900)], key=b"a") + 1
        return all(record.value is not None for record in read_all(client, topic))

    wait_until(tombstone_is_gone, "the tombstone is gone")
    assert {record.key for record in read_all(client, topic)} == {b"a", b"b", b"c"}
    assert list_offset(client, topic, LATEST) == end


def test_compaction_waits_for_the_lag(broker: MoldauBroker, client: WireClient) -> None:
    topic = "lagging"
    configs = {**SMALL_SEGMENTS, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    create_topic(client, topic, configs={**configs, "min.compaction.lag.ms": str(HOUR_MS)})
    create_topic(client, f"{topic}-control", configs=configs)
    for each in (topic, f"{topic}-control"):
        for _ in range(40):
            produce_values(client, each, [bytes(900)], key=b"key")
    wait_until(lambda: len(read_all(client, f"{topic}-control")) < 20, "the other one is compacted")
    assert len(read_all(client, topic)) == 40


def test_compact_and_delete(client: WireClient) -> None:
    topic = "both"
    configs = {**SMALL_SEGMENTS, "cleanup.policy": "compact,delete", "min.cleanable.dirty.ratio": "0.01"}
    create_topic(client, topic, configs={**configs, "retention.ms": str(HOUR_MS)})
    # The old keys are never written again: whether compaction or retention comes first, old segments stay old.
    for number in range(20):
        old_ms = now_ms() - 2 * HOUR_MS
        produce_values(client, topic, [bytes(900)], key=b"old %d" % number, timestamp_ms=old_ms)
    for number in range(20):
        produce_values(client, topic, [bytes(900)], key=b"%d" % (number % 2), timestamp_ms=now_ms())
    wait_until(lambda: list_offset(client, topic, EARLIEST) > 0, "what is too old is deleted")
    wait_until(lambda: len(read_all(client, topic)) < 20, "what is left is compacted")
    assert {record.key for record in read_all(client, topic)} == {b"0", b"1"}
