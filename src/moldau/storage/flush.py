"""Bringing a log to stable storage: collected on the owner's thread, done on another.

The recovery point says up to where that is done. After a crash the segment it falls into is scanned as a whole, so
the active segment needs its data synced and nothing else; indexes, snapshots and epochs are written when a
segment is complete.
"""

from os.path import dirname
from typing import NamedTuple

from moldau.core.ports import File
from moldau.storage.disk import Disk
from moldau.storage.segment import Segment
from moldau.storage.segment_files import EntryIndex


class IndexWrite(NamedTuple):
    file: File
    rewrite: bool
    data: bytes

    def run(self) -> None:
        if self.rewrite:
            self.file.truncate(0)
        self.file.append(self.data)
        self.file.sync()


class FlushJob:
    """Everything a flush will touch is opened and copied when the job is made: the log goes on meanwhile."""

    __slots__ = (
        "_disk",
        "_indexes",
        "_logs",
        "_replacements",
        "directory",
        "end_offset",
        "error",
        "indexed_to",
        "is_stale",
        "needs_directory_sync",
    )

    def __init__(self, disk: Disk, directory: str, end_offset: int, indexed_to: int) -> None:
        self.directory = directory
        self.end_offset = end_offset
        """Once this is done, the data below is on disk."""
        self.indexed_to = indexed_to
        """And so are the indexes of the segments below."""
        self.is_stale = False
        """Set when the log was cut meanwhile: what was flushed is not what is there now."""
        self.needs_directory_sync = False
        """Files came since the last flush: their names must survive too."""
        self.error: OSError | None = None
        self._disk = disk
        self._logs: list[File] = []
        self._indexes: list[tuple[EntryIndex, IndexWrite]] = []
        self._replacements: list[tuple[str, bytes]] = []

    def add_log(self, segment: Segment, recovery_point: int) -> None:
        self._logs.append(segment.file())
        if segment.base_offset >= recovery_point:
            self.needs_directory_sync = True

    def add_indexes(self, segment: Segment) -> None:
        for index in segment.indexes:
            if unsaved := index.take_unsaved():
                file = self._disk.open(segment.files.path(index.KIND), create=True)
                self._indexes.append((index, IndexWrite(file, *unsaved)))
                self.needs_directory_sync = True

    def add_replacement(self, name: str, data: bytes) -> None:
        self._replacements.append((name, data))

    def run(self) -> None:
        """On a worker thread. A failure waits in `error` for `finish_flush`."""
        try:
            for file in self._logs:
                file.sync()
            for _, write in self._indexes:
                write.run()
            for name, data in () if self.is_stale else self._replacements:
                self._disk.write_atomically(f"{self.directory}/{name}", data)
            if self.needs_directory_sync:
                self._disk.sync_directory(self.directory)
                self._disk.sync_directory(dirname(self.directory))
        except OSError as error:
            self.error = error

    @property
    def replaced_files(self) -> list[str]:
        return [name for name, _ in self._replacements]

    def release_indexes(self) -> None:
        """Those written may leave memory."""
        for index, _ in self._indexes:
            index.release()
