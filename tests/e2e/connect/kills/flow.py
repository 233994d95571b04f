"""A connector with data that goes in and comes out: what the test of kills needs to know of it."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from e2e.connect.server.connect_process import PATIENCE_S

LOOK_EVERY_S = 0.2
"""Looks cost more than a check of a process: those at all files of a bucket, for instance."""


class Flow(ABC):
    """`put` is called by a thread of its own, everything else by the test."""

    name: str
    tasks: int
    config: Mapping[str, str]
    step: int
    """A kill comes when up to so many more records have come out."""
    pause_s = 0.02
    """Between two portions."""

    @abstractmethod
    def put(self) -> None:
        """Puts in another portion of data."""

    @abstractmethod
    def arrived(self) -> int:
        """How many records have come out."""

    def finish(self) -> None:  # noqa: B027 most need nothing
        """After the last portion: puts in what makes the last records come out."""

    @abstractmethod
    def is_complete(self) -> bool:
        """Whether everything that was put in has come out. Fails if anything is there twice."""

    @abstractmethod
    def check(self) -> str:
        """Compares all that has come out with what was put in. Says how much it was."""

    def wait_further(self, count: int) -> None:
        """Until so many more records have come out than now."""
        wanted = self.arrived() + count
        _wait(lambda: self.arrived() >= wanted, f"{count} more records of {self.name}")


@contextmanager
def fed(*flows: Flow) -> Iterator[None]:
    """Data goes in meanwhile. What feeding raises is raised at the end."""
    enough = threading.Event()
    failures: list[BaseException] = []

    def feed(flow: Flow) -> None:
        try:
            while not enough.wait(flow.pause_s):
                flow.put()
        except BaseException as failure:  # noqa: BLE001 raised below
            failures.append(failure)

    threads = [threading.Thread(target=feed, args=(flow,)) for flow in flows]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        enough.set()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]


@contextmanager
def explained(explain: Callable[[], str]) -> Iterator[None]:
    """A failure says how things stood."""
    try:
        yield
    except Exception as failure:
        with suppress(Exception):
            failure.add_note(explain())
        raise


def complete(flow: Flow) -> str:
    """Waits for the last records, and compares."""
    flow.finish()
    _wait(flow.is_complete, f"everything that was put into {flow.name} has come out")
    return flow.check()


def _wait(is_true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < end, f"not within {PATIENCE_S} s: {what}"
        time.sleep(LOOK_EVERY_S)


def json_of(value: bytes) -> Any:
    import orjson

    return orjson.loads(value)
