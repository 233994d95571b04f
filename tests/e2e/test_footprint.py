"""What a broker costs: time to start and to stop, memory when idle and with many partitions."""

import os
import signal
import time
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import stopwatch, wait_until
from e2e.conftest import StartBroker
from e2e.conversation import (
    FETCH_BY_NAME,
    LATEST,
    create_topic,
    fetch_request,
    list_offset,
    metadata,
    new_topic,
    produce_values,
    values_of,
)
from e2e.process_facts import MB, resident_bytes
from e2e.wire import WireClient
from moldau.protocol.messages.topics.create_topics import CreateTopicsRequest
from moldau.testing.local_cluster import LocalCluster

pytestmark = pytest.mark.slow

READY_MS_MAX = 1000
IN_PROCESS_START_MS_MAX = 100
STOP_MS_MAX = 1500
IDLE_BYTES_MAX = 60 * MB
TOPICS, PARTITIONS = 10, 1000
OPEN_BYTES_MAX = 400 * MB
CLEAN_MARK = ".kafka_cleanshutdown"


def test_ready_within_a_second(tmp_path: Path) -> None:
    """In the process's own time: how long it takes on the clock says more of what else runs on this machine."""
    spent_ms: list[float] = []
    for number in range(3):
        with MoldauBroker(tmp_path / f"{number}") as broker:
            user, system = Path(f"/proc/{broker.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
            spent_ms.append((int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK"))
    assert min(spent_ms) < READY_MS_MAX


def test_idle_memory(start_broker: StartBroker) -> None:
    broker = start_broker()
    with WireClient(broker.port) as client:
        metadata(client, [])
        assert resident_bytes(broker.pid) < IDLE_BYTES_MAX


def test_in_process_start() -> None:
    times_ms: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        with LocalCluster():
            times_ms.append((time.perf_counter() - start) * 1000)
    assert min(times_ms) < IN_PROCESS_START_MS_MAX


def test_ten_thousand_partitions(start_broker: StartBroker) -> None:
    broker = start_broker()
    with WireClient(broker.port) as client:
        client.socket.settimeout(60)
        topics = [new_topic(f"topic{number}", PARTITIONS) for number in range(TOPICS)]
        for topic in client.call(CreateTopicsRequest(topics=topics, timeout_ms=60_000)).topics:
            assert topic.error_code == 0, topic
        assert resident_bytes(broker.pid) < OPEN_BYTES_MAX, "created"
        for number in range(TOPICS):
            produce_values(client, f"topic{number}", [b"last"], PARTITIONS - 1)
    broker.restart()
    with WireClient(broker.port) as client:
        client.socket.settimeout(60)
        assert sum(len(topic.partitions) for topic in metadata(client, None).topics) == TOPICS * PARTITIONS
        for number in range(TOPICS):
            for partition in range(0, PARTITIONS, 10):
                produce_values(client, f"topic{number}", [b"next"], partition)
        assert values_of(client, "topic0", PARTITIONS - 1) == [b"last"]
        assert resident_bytes(broker.pid) < OPEN_BYTES_MAX, "opened again and written to"


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_clean_stop(tmp_path: Path, signal_number: signal.Signals) -> None:
    broker = MoldauBroker(tmp_path / "broker").start()
    with WireClient(broker.port) as client:
        create_topic(client, "topic")
        produce_values(client, "topic", [b"value"])
        assert not (broker.log_dir / CLEAN_MARK).exists(), "while it runs, a crash would not be clean"
        with stopwatch() as elapsed_ms:
            assert broker._end(signal_number) == 0
            assert elapsed_ms() < STOP_MS_MAX
        assert client.is_closed_by_broker()
    assert (broker.log_dir / CLEAN_MARK).exists()
    assert "Traceback" not in broker.log_path.read_text()


def test_stop_with_a_parked_fetch(tmp_path: Path) -> None:
    broker = MoldauBroker(tmp_path / "broker").start()
    with WireClient(broker.port) as client:
        create_topic(client, "topic")
        client.send(fetch_request("topic", {0: 0}, wait_ms=60_000), FETCH_BY_NAME)
        wait_until(lambda: client.is_open(), "the fetch is sent")
        with stopwatch() as elapsed_ms:
            assert broker.stop() == 0
            assert elapsed_ms() < STOP_MS_MAX
    assert "Traceback" not in broker.log_path.read_text()


def test_a_clean_stop_spares_the_next_start_the_recovery(start_broker: StartBroker) -> None:
    """Shown by what recovery would have found: a damaged record, cut off only when the mark is missing."""
    broker = start_broker()
    with WireClient(broker.port) as client:
        create_topic(client, "topic")
        for number in range(3):
            produce_values(client, "topic", [b"%d" % number])
    broker.stop()
    log = broker.log_dir / "topic-0" / f"{0:020d}.log"
    content = log.read_bytes()
    log.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    broker.start()
    with WireClient(broker.port) as client:
        assert list_offset(client, "topic", LATEST) == 3
    broker.stop()
    (broker.log_dir / CLEAN_MARK).unlink()
    (broker.log_dir / "recovery-point-offset-checkpoint").unlink()
    broker.start()
    with WireClient(broker.port) as client:
        assert values_of(client, "topic") == [b"0", b"1"]
