"""The operating system's files: the only module of storage that opens files.

Implements `Disk`. Knows nothing of logs, segments or formats.
"""

import errno
import fcntl
import os
import resource
import shutil
import stat
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from moldau.core.ports import Buffer

TEMPORARY_SUFFIX: Final = ".tmp"
OPEN_FILES_MIN: Final = 64
OPEN_FILES_MAX: Final = 10_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def open_files_share() -> int:
    """How many files one log directory may keep open: a quarter of the process's limit, since connections and other
    directories need some too."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(OPEN_FILES_MIN, min(OPEN_FILES_MAX, allowed // 4))


class OsFile:
    """One descriptor. It closes with the last reference, so a slice that is being sent survives deletion and
    eviction."""

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, flags: int) -> None:
        self._fd = -1
        self.path = path
        self._fd = os.open(path, flags | os.O_CLOEXEC, 0o644)

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def append(self, data: Buffer) -> None:
        size = len(data)
        written = 0
        try:
            written = os.write(self._fd, data)
            while written < size:
                written += os.write(self._fd, memoryview(data)[written:])
        except OSError:
            if written:
                os.ftruncate(self._fd, self.size() - written)
            raise

    def read(self, position: int, size: int) -> bytes:
        data = os.pread(self._fd, size, position)
        if len(data) == size or not data:
            return data
        parts = [data]
        got = len(data)
        while got < size and (data := os.pread(self._fd, size - got, position + got)):
            parts.append(data)
            got += len(data)
        return b"".join(parts)

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def sync(self) -> None:
        os.fdatasync(self._fd)

    def fileno(self) -> int:
        return self._fd


class _Lock:
    """A POSIX record lock, as Java's FileLock takes: Kafka and Moldau exclude each other from a directory.

    Such a lock belongs to the process and is lost when any descriptor of the file closes, so `held` prevents a second
    open in this process.
    """

    __slots__ = ("_fd", "_key")
    held: ClassVar[set[tuple[int, int]]] = set()

    def __init__(self, path: str) -> None:
        self._fd = -1
        if os.path.exists(path) and self._identity(os.stat(path)) in self.held:
            raise BlockingIOError(errno.EAGAIN, "locked by this process", path)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except PermissionError as error:  # POSIX allows EACCES when another process holds the lock
            raise BlockingIOError(errno.EAGAIN, error.strerror, path) from error
        self._key = self._identity(os.fstat(self._fd))
        self.held.add(self._key)

    @staticmethod
    def _identity(status: os.stat_result) -> tuple[int, int]:
        return status.st_dev, status.st_ino

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self.held.discard(getattr(self, "_key", (0, 0)))


class OsFiles:
    def open(self, path: str, *, create: bool = False, writable: bool = True) -> OsFile:
        flags = os.O_RDWR | os.O_APPEND if writable else os.O_RDONLY
        return OsFile(path, flags | os.O_CREAT if create else flags)

    def read_bytes(self, path: str) -> bytes:
        file = OsFile(path, os.O_RDONLY)
        return file.read(0, file.size())

    def write_atomically(self, path: str, data: bytes, *, durable: bool = True) -> None:
        temporary = path + TEMPORARY_SUFFIX
        file = OsFile(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        file.append(data)
        if durable:
            file.sync()
        os.replace(temporary, path)
        if durable:
            self.sync_directory(os.path.dirname(path))

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def list(self, directory: str) -> Sequence[str]:
        return os.listdir(directory)

    def entries(self, directory: str) -> Iterator[tuple[str, int]]:
        with os.scandir(directory) as found:
            for entry in found:
                status = entry.stat(follow_symlinks=True)
                if stat.S_ISREG(status.st_mode):
                    yield entry.name, status.st_size

    def make_directory(self, path: str) -> None:
        os.makedirs(path, mode=0o755, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(path)

    def sync_directory(self, path: str) -> None:
        fd = os.open(path, _DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def lock(self, path: str) -> object:
        return _Lock(path)

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def sync_all(self, path: str) -> None:
        os.sync()
