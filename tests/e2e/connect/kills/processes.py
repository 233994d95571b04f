"""Kills of what runs a connector: Spark's driver process, Spark's Python workers, the Connect worker."""

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from compat.server_process import wait_until
from e2e.connect.server.connect_process import PATIENCE_S, ConnectProcess
from e2e.process_facts import children

PYTHON_WORKERS = b"pyspark.daemon"


class Process(NamedTuple):
    """A pid alone may be given again."""

    pid: int
    began: str

    @classmethod
    def of(cls, pid: int) -> "Process | None":
        """None for one that has ended, although nobody may have asked for its exit code."""
        try:
            state, *more = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if state in "ZX" else cls(pid, more[18])

    @property
    def has_ended(self) -> bool:
        return Process.of(self.pid) != self

    def kill(self) -> None:
        if not self.has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def tree(pid: int) -> list[Process]:
    """The process and all below it."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        process = Process.of(one)
        if process is not None:
            found.append(process)
            with suppress(OSError):
                todo += children(one)
    return found


def driver(worker: ConnectProcess) -> list[Process]:
    """Spark's driver process and all below it."""
    pid = worker.driver_pid()
    return [] if pid is None else tree(pid)


def python_workers(worker: ConnectProcess) -> list[Process]:
    """The processes in which Spark runs tasks."""
    found = [one for one in driver(worker) if PYTHON_WORKERS in _command(one.pid)]
    # The first is the daemon, which forks the others.
    return [one for one in found if _parent(one.pid) in {other.pid for other in found}]


def kill_driver(worker: ConnectProcess) -> list[Process]:
    processes = _some(lambda: driver(worker), "Spark's driver process")
    processes[0].kill()
    return processes


def kill_python_workers(worker: ConnectProcess) -> list[Process]:
    processes = _some(lambda: python_workers(worker), "Spark's Python workers")
    for one in processes:
        one.kill()
    return processes


def kill_connect_worker(worker: ConnectProcess) -> list[Process]:
    """And starts it again, beside the driver process that it leaves behind."""
    processes = _some(lambda: driver(worker), "Spark's driver process")
    worker.kill9()
    worker.start()
    return processes


KILLS: tuple[Callable[[ConnectProcess], list[Process]], ...] = (
    kill_driver,
    kill_python_workers,
    kill_connect_worker,
)
"""Each answers what is to end now, because it was killed or by itself."""


def wait_ended(processes: Iterable[Process]) -> None:
    left = list(processes)
    wait_until(lambda: all(one.has_ended for one in left), f"the end of {left}", PATIENCE_S)


def _some(look: Callable[[], list[Process]], what: str) -> list[Process]:
    found: list[Process] = []

    def is_there() -> bool:
        found[:] = look()
        return bool(found)

    wait_until(is_there, what, PATIENCE_S)
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
