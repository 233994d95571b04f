"""File descriptors are few on many machines: connections may run out of them, data must not."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.conversation import create_topic, delete_topic, metadata, produce_values, values_of
from e2e.process_facts import deleted_files_open
from e2e.wire import HungUp, WireClient

pytestmark = pytest.mark.slow

FEW = 256
MORE_THAN_FEW = 400


class LimitedBroker(MoldauBroker):
    """Started with a limit on open files, as `ulimit -n` sets it."""

    def __init__(self, folder: Path, limit: str, settings: dict[str, str] | None = None) -> None:
        super().__init__(folder, settings)
        self._limit = limit

    def command(self) -> list[str]:
        return ["sh", "-c", f'ulimit {self._limit} && exec "$@"', "sh", *super().command()]


@contextlib.contextmanager
def running(folder: Path, limit: str) -> Iterator[MoldauBroker]:
    with LimitedBroker(folder, limit) as broker:
        yield broker
    assert "Traceback" not in broker.log_path.read_text()


@contextlib.contextmanager
def crowd(port: int, count: int) -> Iterator[list[WireClient]]:
    """Up to so many connections, as far as the broker lets them come."""
    clients: list[WireClient] = []
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(TimeoutError, ConnectionError):
            for _ in range(count):
                clients.append(stack.enter_context(WireClient(port, timeout_s=3)))
        yield clients


def test_a_low_soft_limit_is_raised(tmp_path: Path) -> None:
    """What `ulimit -Sn` says is a default for programs that do not ask; a server asks."""
    with running(tmp_path, f"-Sn {FEW}") as broker, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WireClient(broker.port)) for _ in range(MORE_THAN_FEW)]
        for client in clients:
            metadata(client, [])


def test_more_partitions_than_descriptors(tmp_path: Path) -> None:
    with running(tmp_path, f"-n {FEW}") as broker, WireClient(broker.port) as client:
        create_topic(client, "wide", MORE_THAN_FEW)
        for partition in range(MORE_THAN_FEW):
            produce_values(client, "wide", [b"value"], partition)
        for partition in range(MORE_THAN_FEW):
            assert values_of(client, "wide", partition) == [b"value"]


def test_connections_take_no_descriptors_from_the_data(tmp_path: Path) -> None:
    """A crowd at the door must not take a log directory offline."""
    with running(tmp_path, f"-n {FEW}") as broker, WireClient(broker.port) as client:
        create_topic(client, "rolling", configs={"internal.segment.bytes": "3000"})
        with crowd(broker.port, 2 * FEW):
            for _ in range(20):
                produce_values(client, "rolling", [bytes(2000)])
            create_topic(client, "another", 5)
        complaints = [line for line in broker.log_text().splitlines() if "ulimit" in line]
        assert complaints, "somebody should be told"
        wait_until(lambda: _is_served(broker.port), "there is room again")
        assert len(values_of(client, "rolling")) == 20


def test_what_is_deleted_leaves_the_disk(tmp_path: Path) -> None:
    """An open descriptor would keep the bytes of a deleted segment: retention would free nothing."""
    settings = {"log.retention.check.interval.ms": "50", "log.initial.task.delay.ms": "0"}
    rolling = {"internal.segment.bytes": "3000", "file.delete.delay.ms": "0"}
    with MoldauBroker(tmp_path, settings) as broker, WireClient(broker.port) as client:
        create_topic(client, "aging", configs=rolling | {"retention.bytes": "6000"})
        create_topic(client, "leaving", configs=rolling)
        for topic in ("aging", "leaving"):
            for _ in range(20):
                produce_values(client, topic, [bytes(2000)])
        folder = broker.log_dir / "aging-0"
        wait_until(lambda: len(list(folder.glob("*.log"))) < 10, "retention has deleted segments")
        delete_topic(client, "leaving")
        wait_until(lambda: not deleted_files_open(broker.pid), "deleted files are closed")


def _is_served(port: int) -> bool:
    try:
        with WireClient(port, timeout_s=1) as client:
            metadata(client, [])
            return True
    except (HungUp, ConnectionError, TimeoutError):
        return False
