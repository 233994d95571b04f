"""Bringing a log to stable storage: collected on the owner's thread, done on another.

The recovery point says up to where that is done. After a crash the segment it falls into is scanned as a whole, so
the active segment needs its data synced and nothing else; indexes, snapshots and epochs are written when a
segment is complete, and at close.
"""

from os.path import dirname
from typing import NamedTuple

from moldau.core.ports import File
from moldau.storage.disk import Disk
from moldau.storage.log.epochs import LeaderEpochs
from moldau.storage.names import LEADER_EPOCHS
from moldau.storage.producers.producer_log import ProducerLog
from moldau.storage.segments.segment import Segment
from moldau.storage.segments.segment_files import EntryIndex
from moldau.storage.segments.segment_list import SegmentList


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
        """On a worker thread. A failure waits in `error` for `finish_flush`."""
        self.write(durable=True)
        self.sync()

    def write(self, *, durable: bool) -> None:
        """All but the waiting. Many jobs can then share one wait for the whole disk before each is synced."""
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
        """Those written may leave memory."""
        for write in self._indexes:
            write.source.release()


class FlushState:
    """How far one log is on stable storage, and the flush under way."""

    __slots__ = ("_flushing", "_indexed_to", "_last_flush_ms", "_segments", "recovery_point")

    def __init__(self, segments: SegmentList, recovery_point: int, now_ms: int) -> None:
        self.recovery_point = recovery_point
        """Every batch below is on disk."""
        self._segments = segments
        self._indexed_to = segments.from_offset(recovery_point)[0].base_offset
        """So are the indexes of every segment below."""
        self._flushing: FlushJob | None = None
        self._last_flush_ms = now_ms

    @property
    def checkpoint(self) -> int:
        """From where a start after a crash must read. Not past a segment whose indexes are not on disk, even
        when its data is."""
        return min(self.recovery_point, self._indexed_to)

    @property
    def has_rolled(self) -> bool:
        return self._indexed_to < self._segments.active.base_offset

    def is_due(self, end_offset: int, now_ms: int) -> bool:
        unflushed = end_offset - self.recovery_point
        config = self._segments.config
        return unflushed > 0 and (
            unflushed >= config.flush_messages or now_ms - self._last_flush_ms >= config.flush_ms
        )

    def begin(self, end_offset: int, now_ms: int, *, rolled_only: bool) -> FlushJob | None:
        """None when there is nothing to do, or one is under way."""
        active = self._segments.active
        if rolled_only:
            end_offset = active.base_offset
        if self._flushing is not None or (end_offset <= self.recovery_point and not self.has_rolled):
            return None
        job = self._new_job(end_offset)
        for segment in self._segments.from_offset(self.checkpoint):
            if segment is not active:
                self._add_log(job, segment)
                job.add_indexes(segment)
            elif not rolled_only:
                self._add_log(job, segment)
        self._flushing = job
        self._last_flush_ms = now_ms
        return job

    def begin_last(self, end_offset: int) -> FlushJob:
        """For close: the active segment is complete too."""
        job = self._new_job(end_offset)
        for segment in self._segments.from_offset(self.checkpoint):
            if end_offset > self.recovery_point:
                self._add_log(job, segment)
            job.add_indexes(segment)
        return job

    def _new_job(self, end_offset: int) -> FlushJob:
        segments = self._segments
        return FlushJob(segments.disk, segments.directory, end_offset, segments.active.base_offset)

    def _add_log(self, job: FlushJob, segment: Segment) -> None:
        job.add_log(segment, is_new=segment.base_offset >= self.recovery_point)

    def finish(self, job: FlushJob) -> None:
        self._flushing = None
        if job.error is None and not job.is_stale:
            self.recovery_point = max(self.recovery_point, job.end_offset)
            self._indexed_to = job.indexed_to
        job.release_indexes()

    def cut(self, end_offset: int) -> None:
        """The log ends at `end_offset` now."""
        self.recovery_point = min(self.recovery_point, end_offset)
        self._indexed_to = min(self._indexed_to, self._segments.active.base_offset)
        if self._flushing is not None:
            self._flushing.is_stale = True


def add_unsaved_files(job: FlushJob, producers: ProducerLog, epochs: LeaderEpochs) -> None:
    """What is written whenever a segment is complete."""
    for name, data in producers.take_unsaved():
        job.add_replacement(name, data)
    if not epochs.is_saved:
        epochs.is_saved = True
        job.add_replacement(LEADER_EPOCHS, epochs.text())
