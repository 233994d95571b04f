"""A broker in a process of its own: started, waited for, stopped, killed, started again.

Owns the child process and its log file. What to run and how to see that it serves is the business of
`apache_kafka` and `moldau_broker`.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Self

START_TIMEOUT_S = 300
STOP_TIMEOUT_S = 120
POLL_INTERVAL_S = 0.02


class ServerFailed(Exception):
    """The process ended or did not serve in time; the text carries the end of its log."""


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout_s} s: {what}")
        time.sleep(POLL_INTERVAL_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class ServerProcess:
    """Each kind of broker says its `command` and when it `is_ready`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log_dir = folder / "data"
        self.log_path = folder / "server.log"
        self.port = free_port()
        self._child: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._child is not None, "the server is not running"
        return self._child.pid

    def command(self) -> list[str]:
        raise NotImplementedError

    def is_ready(self) -> bool:
        raise NotImplementedError

    def start(self) -> Self:
        assert self._child is None, "the server is already running"
        self._log = self.log_path.open("ab")
        self._log_start = self._log.tell()
        self._child = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT
        )
        try:
            wait_until(self._ready_or_ended, "the server is ready", START_TIMEOUT_S)
        except BaseException as failure:
            self.kill9()
            if isinstance(failure, TimeoutError):
                raise ServerFailed(f"{failure}\n{self.log_text()[-4000:]}") from None
            raise
        return self

    def stop(self) -> int:
        """Ends it the clean way; the exit code."""
        return self._end(signal.SIGTERM)

    def kill9(self) -> None:
        self._end(signal.SIGKILL)

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def copy_as_crashed(self, target: Path) -> None:
        """Its data as a crash at this moment would leave it: the process stands still while they are copied."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            shutil.copytree(self.log_dir, target)
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def log_text(self) -> str:
        """What it has printed since its last start."""
        with self.log_path.open("rb") as file:
            file.seek(self._log_start)
            return file.read().decode(errors="replace")

    def partition_dir(self, topic: str, partition: int = 0) -> Path:
        return self.log_dir / f"{topic}-{partition}"

    def _ready_or_ended(self) -> bool:
        assert self._child is not None
        if self._child.poll() is not None:
            raise ServerFailed(f"ended with code {self._child.returncode}\n{self.log_text()[-4000:]}")
        return self.is_ready()

    def _end(self, signal_number: signal.Signals) -> int:
        if self._child is None:
            return 0
        child, self._child = self._child, None
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(signal_number)
        try:
            return child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            text = self.log_text()[-4000:]
            raise ServerFailed(
                f"did not end within {STOP_TIMEOUT_S} s of {signal_number.name}\n{text}"
            ) from None
        finally:
            if self._log is not None:
                self._log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Gives a function telling the milliseconds since the block began."""
    start = time.monotonic()
    yield lambda: (time.monotonic() - start) * 1000
