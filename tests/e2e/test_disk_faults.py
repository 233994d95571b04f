"""Disks that are full: the directory goes offline with a clear word, and nothing that was acknowledged is lost."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.conversation import batch_of, create_topic, fetch, new_topic, produce, produce_values, values_of
from e2e.process_facts import MB
from e2e.small_disks import MakeDisk, resize
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.describe_log_dirs import DescribeLogDirsRequest
from moldau.protocol.messages.topics.create_topics import CreateTopicsRequest

pytestmark = pytest.mark.slow

TOPIC = "filling"
VALUE_BYTES = 50_000
BATCHES_MAX = 1000


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], MoldauBroker]]:
    brokers: list[MoldauBroker] = []

    def start_on(log_dirs: str) -> MoldauBroker:
        brokers.append(MoldauBroker(tmp_path / f"broker{len(brokers)}", {"log.dirs": log_dirs}).start())
        return brokers[-1]

    yield start_on
    for broker in brokers:
        assert broker.stop() == 0, broker.log_path.read_text()[-4000:]
        assert "Traceback" not in broker.log_path.read_text()


def value(number: int) -> bytes:
    return b"%06d" % number + bytes(VALUE_BYTES)


def produce_until_refused(client: WireClient, partition: int = 0) -> tuple[list[bytes], Any]:
    """What was acknowledged, and the answer that refused."""
    acknowledged: list[bytes] = []
    for number in range(BATCHES_MAX):
        answer = produce(client, TOPIC, batch_of([value(number)]), partition)
        if answer.error_code != 0:
            return acknowledged, answer
        acknowledged.append(value(number))
    raise AssertionError("the disk never filled up")


def log_dir_errors(client: WireClient) -> dict[str, ErrorCode]:
    results = client.call(DescribeLogDirsRequest(topics=None)).results
    return {result.log_dir: ErrorCode(result.error_code) for result in results}


def check_refusal(broker: MoldauBroker, directory: Path, answer: Any, reason: str, advice: str) -> None:
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert str(directory) in answer.error_message and reason in answer.error_message
    lines = [line for line in broker.log_text().splitlines() if reason in line]
    assert len(lines) == 1, lines
    assert str(directory) in lines[0] and advice in lines[0]


def test_full_disk(make_disk: MakeDisk, start: Callable[[str], MoldauBroker]) -> None:
    disk = make_disk("disk", 4 * MB)
    broker = start(str(disk))
    with WireClient(broker.port) as client:
        create_topic(client, TOPIC)
        acknowledged, answer = produce_until_refused(client)
        assert len(acknowledged) > 20
        check_refusal(broker, disk, answer, "No space left on device", "free space")
        again = produce(client, TOPIC, batch_of([b"small"]))
        assert again.error_code == ErrorCode.KAFKA_STORAGE_ERROR, "offline until the broker is restarted"
        assert fetch(client, TOPIC, 0).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert log_dir_errors(client) == {str(disk): ErrorCode.KAFKA_STORAGE_ERROR}
        lines = [line for line in broker.log_text().splitlines() if "No space left" in line]
        assert len(lines) == 1, "it is said once"
    assert broker.stop() == 0
    resize(disk, 16 * MB)
    with WireClient(start(str(disk)).port) as client:
        assert values_of(client, TOPIC) == acknowledged
        assert log_dir_errors(client) == {str(disk): ErrorCode.NONE}
        assert produce_values(client, TOPIC, [b"on we go"]) == len(acknowledged)


def test_full_disk_and_kill9(make_disk: MakeDisk, start: Callable[[str], MoldauBroker]) -> None:
    disk = make_disk("disk", 4 * MB)
    broker = start(str(disk))
    with WireClient(broker.port) as client:
        create_topic(client, TOPIC, configs={"internal.segment.bytes": "200000"})
        acknowledged, _ = produce_until_refused(client)
    broker.kill9()
    resize(disk, 16 * MB)
    with WireClient(start(str(disk)).port) as client:
        assert values_of(client, TOPIC) == acknowledged


def test_the_other_disk_goes_on(
    make_disk: MakeDisk, start: Callable[[str], MoldauBroker], tmp_path: Path
) -> None:
    small, other = make_disk("small", 3 * MB), tmp_path / "other"
    broker = start(f"{other},{small}")
    with WireClient(broker.port) as client:
        create_topic(client, TOPIC, partitions=4)
        on_small = [index for index in range(4) if (small / f"{TOPIC}-{index}").exists()]
        on_other = [index for index in range(4) if (other / f"{TOPIC}-{index}").exists()]
        assert len(on_small) == len(on_other) == 2
        for partition in range(4):
            produce_values(client, TOPIC, [b"before"], partition)
        acknowledged, answer = produce_until_refused(client, on_small[0])
        check_refusal(broker, small, answer, "No space left on device", "free space")
        neighbour = produce(client, TOPIC, batch_of([b"after"]), on_small[1])
        assert neighbour.error_code == ErrorCode.KAFKA_STORAGE_ERROR, "the whole directory is offline"
        for partition in on_other:
            produce_values(client, TOPIC, [b"after"], partition)
            assert values_of(client, TOPIC, partition) == [b"before", b"after"]
        expected = {str(small): ErrorCode.KAFKA_STORAGE_ERROR, str(other): ErrorCode.NONE}
        assert log_dir_errors(client) == expected
        create_topic(client, "later", partitions=3)
        assert all((other / f"later-{index}").exists() for index in range(3))
    assert broker.stop() == 0
    resize(small, 16 * MB)
    with WireClient(start(f"{other},{small}").port) as client:
        assert values_of(client, TOPIC, on_small[0]) == [b"before", *acknowledged]
        assert values_of(client, TOPIC, on_small[1]) == [b"before"]


def test_creating_a_topic_on_a_full_disk(make_disk: MakeDisk, start: Callable[[str], MoldauBroker]) -> None:
    disk = make_disk("disk", 2 * MB)
    broker = start(str(disk))
    with WireClient(broker.port) as client:
        create_topic(client, TOPIC)
        produce_values(client, TOPIC, [b"kept"])
        filler = disk / "filler"
        with pytest.raises(OSError, match="No space left"), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        request = CreateTopicsRequest(topics=[new_topic("late", 50)], timeout_ms=5000)
        (answer,) = client.call(request).topics
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR, answer
        assert answer.error_message
        filler.unlink()
    assert broker.stop() == 0
    with WireClient(start(str(disk)).port) as client:
        assert values_of(client, TOPIC) == [b"kept"]
        (answer,) = client.call(request).topics
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
        produce_values(client, "late", [b"works"], 49)


def test_file_size_limit(start: Callable[[str], MoldauBroker], tmp_path: Path) -> None:
    """A write refused half way through: the part of the batch that fitted is not to be seen, then or later."""
    directory = tmp_path / "data"
    broker = start(str(directory))
    with WireClient(broker.port) as client:
        create_topic(client, TOPIC)
        resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (MB, MB))
        acknowledged, answer = produce_until_refused(client)
        assert len(acknowledged) == MB // VALUE_BYTES
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert "File too large" in answer.error_message
    log = directory / f"{TOPIC}-0" / f"{0:020d}.log"
    assert log.stat().st_size < MB
    broker.kill9()
    with WireClient(start(str(directory)).port) as client:
        assert values_of(client, TOPIC) == acknowledged
        assert produce_values(client, TOPIC, [b"on we go"]) == len(acknowledged)


def test_log_cut_short_behind_the_broker(start: Callable[[str], MoldauBroker], tmp_path: Path) -> None:
    """Somebody truncates a file in use: whoever reads it is told or closed with one line; nobody hangs."""
    directory = tmp_path / "data"
    broker = start(str(directory))
    with WireClient(broker.port) as client, WireClient(broker.port) as other:
        for topic in (TOPIC, "untouched"):
            create_topic(client, topic)
            produce_values(client, topic, [b"value"])
        log = directory / f"{TOPIC}-0" / f"{0:020d}.log"
        log.write_bytes(b"")
        answers: list[Any] = []
        try:
            answers.append(fetch(client, TOPIC, 0))
        except Exception:  # noqa: BLE001  Closed: whatever way the client notices.
            lines = [line for line in broker.log_text().splitlines() if f":{client.local_port} " in line]
            assert len(lines) == 1 and str(log) in lines[0]
        assert not answers or answers[0].error_code != ErrorCode.NONE
        assert values_of(other, "untouched") == [b"value"]
