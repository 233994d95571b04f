"""One flush: collected on the thread that owns the log, run on a worker thread."""

from os.path import dirname
from typing import NamedTuple

from moldau.core.ports import File
from moldau.storage.disk import Disk
from moldau.storage.segments.segment import Segment
from moldau.storage.segments.segment_files import EntryIndex


class IndexWrite(NamedTuple):
    source: EntryIndex
    file: File
    rewrite: bool
    data: bytes

    def run(self) -> None:
        if self.rewrite:
            self.file.truncate(0)
        self.file.append(self.data)


class FlushJob:
    """Opens and copies everything the flush will touch when it is created, so that the log can change meanwhile."""

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
        """When the job is done, the data below this offset is on disk."""
        self.indexed_to = indexed_to
        """So are the indexes of the segments below this one."""
        self.is_stale = False
        """Set when the log is truncated meanwhile: what was flushed is no longer what the log holds."""
        self.needs_directory_sync = False
        """Files were created since the last flush, and their directory entries must survive too."""
        self.error: OSError | None = None
        self._disk = disk
        self._logs: list[File] = []
        self._indexes: list[IndexWrite] = []
        self._replacements: list[tuple[str, bytes]] = []

    def add_log(self, segment: Segment, *, is_new: bool) -> None:
        self._logs.append(segment.file())
        self.needs_directory_sync |= is_new

    def add_indexes(self, segment: Segment) -> None:
        for index in segment.indexes:
            if unsaved := index.take_unsaved():
                file = self._disk.open(segment.files.path(index.KIND), create=True)
                self._indexes.append(IndexWrite(index, file, *unsaved))
                self.needs_directory_sync = True

    def add_replacement(self, name: str, data: bytes) -> None:
        self._replacements.append((name, data))

    @property
    def is_empty(self) -> bool:
        return not (self._logs or self._indexes or self._replacements)

    @property
    def replaced_files(self) -> list[str]:
        return [name for name, _ in self._replacements]

    def run(self) -> None:
        """For a worker thread. `finish_flush` raises the failure that is left in `error`."""
        self.write(durable=True)
        self.sync()

    def write(self, *, durable: bool) -> None:
        """Writes without syncing. Many jobs can then share one sync of the whole disk before each syncs its files."""
        try:
            for write in self._indexes:
                write.run()
            for name, data in () if self.is_stale else self._replacements:
                self._disk.write_atomically(f"{self.directory}/{name}", data, durable=durable)
        except OSError as error:
            self.error = error

    def sync(self) -> None:
        try:
            for file in self._logs:
                file.sync()
            for write in self._indexes:
                write.file.sync()
            if self.needs_directory_sync:
                self._disk.sync_directory(self.directory)
                self._disk.sync_directory(dirname(self.directory))
        except OSError as error:
            self.error = self.error or error

    def release_indexes(self) -> None:
        """Indexes that are written may be evicted from memory."""
        for write in self._indexes:
            write.source.release()
