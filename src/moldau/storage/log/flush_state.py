"""How far a log is on stable storage, and which flush is running.

Owns the recovery point: every batch below it is synced. After a crash the whole segment it falls into is scanned, so
the active segment needs its data synced and nothing else; indexes, snapshots and epochs are written when a segment is
complete, and at close.
"""

from moldau.storage.log.flush_job import FlushJob
from moldau.storage.segments.segment import Segment
from moldau.storage.segments.segment_list import SegmentList


class FlushState:
    __slots__ = ("_flushing", "_indexed_to", "_last_flush_ms", "_segments", "recovery_point")

    def __init__(self, segments: SegmentList, recovery_point: int, now_ms: int) -> None:
        self.recovery_point = recovery_point
        """Every batch below is on disk."""
        self._segments = segments
        self._indexed_to = segments.from_offset(recovery_point)[0].base_offset
        """So are the indexes of every segment below this one."""
        self._flushing: FlushJob | None = None
        self._last_flush_ms = now_ms

    @property
    def checkpoint(self) -> int:
        """The offset from which recovery must scan after a crash. Never past a segment whose indexes are not on
        disk, even when its data is."""
        return min(self.recovery_point, self._indexed_to)

    @property
    def has_rolled(self) -> bool:
        """Whether complete segments wait to be flushed. Kafka flushes them right after a roll, in the background."""
        return self._indexed_to < self._segments.active.base_offset

    def is_due(self, end_offset: int, now_ms: int) -> bool:
        unflushed = end_offset - self.recovery_point
        config = self._segments.config
        return unflushed > 0 and (
            unflushed >= config.flush_messages or now_ms - self._last_flush_ms >= config.flush_ms
        )

    def begin(self, end_offset: int, now_ms: int, *, rolled_only: bool) -> FlushJob | None:
        """None when there is nothing to flush, or a flush is running."""
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
        """The log was truncated and ends at `end_offset`."""
        self.recovery_point = min(self.recovery_point, end_offset)
        self._indexed_to = min(self._indexed_to, self._segments.active.base_offset)
        if self._flushing is not None:
            self._flushing.is_stale = True
