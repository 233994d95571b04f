"""Interfaces to the operating system: time, files, delayed calls.

The real ones live in `storage/os_files.py` and `node/`; simulated ones in `testing/`. Both pass the same
conformance suite.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from moldau.core.ids import Millis

Buffer = bytes | bytearray | memoryview
Result = TypeVar("Result")


class Clock(Protocol):
    def now_ms(self) -> Millis:
        """Wall-clock time, milliseconds since the Unix epoch. May jump."""

    def monotonic_ms(self) -> Millis:
        """Time that only goes forward; for deadlines."""


class Cancellable(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """Delayed calls on the one thread that owns broker state."""

    def call_soon(self, callback: Callable[[], None]) -> object: ...

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Cancellable: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs a coroutine on the owner's thread. The implementation owns its lifetime and its errors."""

    def run_in_worker(self, job: Callable[[], Result]) -> Awaitable[Result]:
        """Runs a blocking job on a worker thread. The job must not touch anything that the owner's thread changes."""


class File(Protocol):
    """An open file. It closes when the last reference goes, so a slice in flight outlives a deletion."""

    path: str

    def append(self, data: Buffer) -> None:
        """Writes all of `data` at the end, or raises OSError leaving the file as long as it was."""

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position`; fewer only at the end of the file."""

    def size(self) -> int: ...

    def truncate(self, size: int) -> None: ...

    def sync(self) -> None:
        """Returns when everything appended so far is on stable storage. May be called from any thread."""

    def fileno(self) -> int:
        """For sendfile; -1 if there is no file of the operating system."""


class FileSystem(Protocol):
    """Paths are absolute strings. Errors are OSError with errno set."""

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> File: ...

    def read_bytes(self, path: str) -> bytes: ...

    def write_atomically(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Replaces the file as one step: a reader sees the old content or the new."""

    def exists(self, path: str) -> bool: ...

    def list(self, directory: str) -> Sequence[str]: ...

    def entries(self, directory: str) -> Iterable[tuple[str, int]]:
        """Name and size of each regular file in a directory."""

    def make_directory(self, path: str) -> None: ...

    def rename(self, source: str, target: str) -> None: ...

    def remove(self, path: str) -> None: ...

    def remove_tree(self, path: str) -> None: ...

    def sync_directory(self, path: str) -> None: ...
