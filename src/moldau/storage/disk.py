"""What storage needs from a disk, and what happens when the disk fails.

Owns the interface `Disk` (core's `FileSystem` plus a directory lock and file times) and `DirectoryHealth`, the only
place where a log directory goes offline. Opens no files itself.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Protocol

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ports import FileSystem


class Disk(FileSystem, Protocol):
    def lock(self, path: str) -> object:
        """Takes the exclusive lock on a file, creating the file. The lock is held until the returned object is
        dropped. Raises BlockingIOError when another process holds it."""

    def modified_ms(self, path: str) -> int: ...

    def sync_all(self, path: str) -> None:
        """Returns when everything written to the file system that holds `path` is on stable storage. For many files
        at once; the `sync` of each file reports its own failure."""


_ADVICE = {
    errno.ENOSPC: "the disk is full: free space or lower the retention, then restart the broker",
    errno.EDQUOT: "the disk quota is used up: raise it or lower the retention, then restart the broker",
    errno.EROFS: "the file system is read-only: look at the kernel log, remount it writable, then restart",
    errno.EIO: "the disk reports errors: look at the kernel log, replace the disk if it is failing",
    errno.EACCES: "the broker's user lacks the permission: correct the directory's owner and mode, then restart",
    errno.EMFILE: "too many open files: raise the limit (ulimit -n), then restart the broker",
}
_ADVICE_ELSE = "look at the kernel log and the directory's permissions, then restart the broker"


class DirectoryHealth:
    """Whether one entry of `log.dirs` may still be used. Shared by all logs in it: the first fault stops them all."""

    __slots__ = ("directory", "offline_reason")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.offline_reason: str | None = None

    def fail(self, doing: str, error: OSError) -> StorageFault:
        """Takes the directory offline and returns what to raise."""
        advice = _ADVICE.get(error.errno or 0, _ADVICE_ELSE)
        message = (
            f"{doing} failed in log directory {self.directory}: {error.strerror or error}. "
            f"The directory is now offline; {advice}."
        )
        if self.offline_reason is None:
            self.offline_reason = message
        return StorageFault(self.directory, message)

    @contextmanager
    def guard(self, doing: str) -> Iterator[None]:
        """For code off the hot path: an OSError inside takes the directory offline."""
        try:
            yield
        except OSError as error:
            raise self.fail(doing, error) from error

    def refuse(self) -> NoReturn:
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self.offline_reason)
