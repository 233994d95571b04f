"""Compaction in one log directory, on the owner's thread: chooses the next log and swaps the result in.

Owns the cleaner checkpoint and the list of logs that cannot be cleaned. A `CleanJob` does the work, a `SettleJob`
makes the result durable.

    job = cleaner.begin(now_ms)            # owner; None when nothing is due
    job.run()                              # worker
    finished = cleaner.finish(job, now_ms) # owner
    finished.settle.run()                  # worker; then remove finished.retired after file.delete.delay.ms
"""

import logging
from contextlib import suppress
from typing import Final, NamedTuple

from moldau.core.ids import NO_TIMESTAMP, TopicPartition
from moldau.protocol.records.batch import HEADER_SIZE
from moldau.storage.checkpoints import offsets_text
from moldau.storage.cleaner.batch_filter import LastRecord
from moldau.storage.cleaner.job import (
    CleanedSegment,
    CleanerSettings,
    CleanJob,
    CleanOutcome,
    CleanTask,
    SourceSegment,
)
from moldau.storage.cleaner.plan import CleanableLog, CleaningPlan, choose_filthiest, plan_cleaning
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.disk import Disk
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.names import CLEANED, CLEANER_OFFSETS, DELETED, LOG, SEGMENT_SUFFIXES
from moldau.storage.residency import Residency
from moldau.storage.segments.batch_scan import iter_headers
from moldau.storage.segments.segment import RetiredSegment, Segment, Shared
from moldau.storage.segments.segment_files import SegmentFiles
from moldau.storage.segments.txn_index import AbortedTxn

OPEN_FILES_MAX: Final = 200
"""The limit on open files of compacted segments, apart from that of other segments."""
LOADED_INDEX_BYTES_MAX: Final = 16 << 20

_log: Final = logging.getLogger("moldau.cleaner")


class SettleJob:
    """Makes a swap durable, then writes the cleaner checkpoint. For a worker thread; the caller reports an OSError."""

    def __init__(self, disk: Disk, log_path: str | None, checkpoint_path: str, checkpoint: bytes) -> None:
        self._disk = disk
        self._log_path = log_path
        self._checkpoint_path = checkpoint_path
        self._checkpoint = checkpoint

    def run(self) -> None:
        if self._log_path is not None:
            self._disk.sync_directory(self._log_path)
        self._disk.write_atomically(self._checkpoint_path, self._checkpoint)


class Finished(NamedTuple):
    retired: list[RetiredSegment]
    """The old segments, or the results of a round that came too late. Remove them on a worker thread after the log's
    `file.delete.delay.ms`."""
    settle: SettleJob | None


class LogCleaner:
    def __init__(self, disk: Disk, directory: LogDirectory, settings: CleanerSettings) -> None:
        self.settings = settings
        self.uncleanable: dict[TopicPartition, str] = {}
        """Logs the cleaner skips until the next start, and why."""
        self.clean_offsets = directory.read_offsets(CLEANER_OFFSETS)
        """The offset up to which each log is clean."""
        self._disk = disk
        self._directory = directory
        self._met = dict(directory.logs)
        """The log objects behind the names above: a log created later under the same name is a different one."""
        self._jobs: dict[TopicPartition, tuple[CleanJob, PartitionLog]] = {}
        self._shared = Shared(disk, Residency(OPEN_FILES_MAX), Residency(LOADED_INDEX_BYTES_MAX))

    def begin(self, now_ms: int) -> CleanJob | None:
        """Returns the next round, for the log with the highest dirty ratio of those that are due. A log is in one
        round at a time."""
        candidates = []
        logs = dict(self._directory.logs)
        for topic_partition in self._met.keys() - logs.keys():
            self.deleted(topic_partition)
        for topic_partition, log in logs.items():
            if self._met.get(topic_partition) is not log:
                self.deleted(topic_partition)
                self._met[topic_partition] = log
            if not log.config.compact or topic_partition in self._jobs or topic_partition in self.uncleanable:
                continue
            with self._directory.health.guard(f"Planning the compaction of {topic_partition}"):
                plan = self._plan(log, now_ms)
            if plan.is_checkpoint_wrong:
                self.clean_offsets[topic_partition] = plan.first_dirty_offset
            candidates.append((log, plan, log.config))
        chosen = choose_filthiest(candidates)
        if chosen is None:
            return None
        log, plan = chosen
        job = CleanJob(_task(log, plan, now_ms), self._disk, self.settings)
        self._jobs[log.topic_partition] = job, log
        return job

    def _plan(self, log: PartitionLog, now_ms: int) -> CleaningPlan:
        state = CleanableLog(
            [_TimedSegment(segment) for segment in log.segments.all],
            log.start_offset,
            log.last_stable_offset,
            log.end_offset,
        )
        return plan_cleaning(state, log.config, self.clean_offsets.get(log.topic_partition), now_ms)

    def finish(self, job: CleanJob, now_ms: int) -> Finished:
        """Swaps the result in, unless the log has changed too much in the meantime."""
        task, outcome = job.task, job.outcome
        assert outcome is not None, "the job has not run"
        _, log = self._jobs.pop(task.topic_partition)
        is_same_log = self._directory.logs.get(task.topic_partition) is log
        if job.is_cancelled or not is_same_log or not _still_has(log, task):
            return Finished([self._unused(task, each) for each in outcome.segments], None)
        if outcome.fault is not None:
            raise self._directory.health.fail(f"Compacting {task.topic_partition}", outcome.fault)
        if outcome.uncleanable is not None:
            self._mark_uncleanable(task.topic_partition, outcome.uncleanable)
        if not outcome.segments:
            return Finished([], None)
        retired = self._swap_in(log, task, outcome, now_ms)
        self.clean_offsets[task.topic_partition] = outcome.end_offset
        _report(task, outcome)
        return Finished(retired, self._settle(log.directory))

    def _swap_in(
        self, log: PartitionLog, task: CleanTask, outcome: CleanOutcome, now_ms: int
    ) -> list[RetiredSegment]:
        replaced = {base_offset for segment in outcome.segments for base_offset in segment.replaces}
        old = [segment for segment in log.segments.all if segment.base_offset in replaced]
        new = [
            Segment(
                SegmentFiles(self._disk, task.directory, segment.base_offset, CLEANED),
                self._shared,
                log.config,
                size=segment.size,
                now_ms=now_ms,
                has_aborted=segment.has_aborted,
            )
            for segment in outcome.segments
        ]
        with self._directory.health.guard(
            f"Replacing segments of {task.topic_partition} with compacted ones"
        ):
            retired = log.segments.replace(new, old, "since they were compacted")
            log.producers.remove_snapshots_at(replaced - {segment.base_offset for segment in new})
            return retired

    def _unused(self, task: CleanTask, segment: CleanedSegment) -> RetiredSegment:
        """Renames the results: the next round may write files with the same names."""
        files = SegmentFiles(self._disk, task.directory, segment.base_offset, CLEANED)
        paths = tuple(files.path(kind) for kind in SEGMENT_SUFFIXES)
        for path in paths:
            with suppress(FileNotFoundError):
                self._disk.rename(path, path + DELETED)
        reason = "since its log changed while it was compacted"
        removed = tuple(path + DELETED for path in paths)
        return RetiredSegment(self._disk, segment.base_offset, segment.size, reason, removed)

    def _mark_uncleanable(self, topic_partition: TopicPartition, why: str) -> None:
        self.uncleanable[topic_partition] = why
        _log.error(
            "%s cannot be compacted: %s. It stays readable, and the cleaner skips it until the next start; "
            "to get rid of the damage, delete the records before that point, or the topic.",
            topic_partition, why,
        )  # fmt: skip

    def _settle(self, log_path: str | None) -> SettleJob:
        path = f"{self._directory.path}/{CLEANER_OFFSETS}"
        return SettleJob(self._disk, log_path, path, offsets_text(self.clean_offsets))

    # --- changes to the logs

    def truncated(self, topic_partition: TopicPartition, offset: int) -> None:
        """A follower truncated its log: its round is cancelled, and what lies past `offset` counts as dirty."""
        if topic_partition in self._jobs:
            self._jobs[topic_partition][0].cancel()
        if self.clean_offsets.get(topic_partition, 0) > offset:
            self.clean_offsets[topic_partition] = offset

    def deleted(self, topic_partition: TopicPartition) -> SettleJob | None:
        """The log was deleted: cancels its round and removes it from the checkpoint. `begin` notices by itself; call
        this when it cannot wait."""
        if topic_partition in self._jobs:
            self._jobs[topic_partition][0].cancel()
        self._met.pop(topic_partition, None)
        self.uncleanable.pop(topic_partition, None)
        if self.clean_offsets.pop(topic_partition, None) is None:
            return None
        return self._settle(None)

    def cancel_all(self) -> None:
        """At shutdown: the running rounds end at their next read."""
        for job, _ in self._jobs.values():
            job.cancel()


class _TimedSegment:
    """A segment as the plan sees it."""

    __slots__ = ("_segment", "base_offset", "size")

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self.base_offset = segment.base_offset
        self.size = segment.size

    def largest_timestamp_ms(self) -> int:
        return self._segment.largest_timestamp_ms()

    def first_batch_timestamp_ms(self) -> int:
        segment = self._segment
        if segment.first_timestamp_ms is None:
            first = next(iter_headers(segment.file(), 0, segment.size, HEADER_SIZE), None)
            segment.first_timestamp_ms = first[1].max_timestamp if first else NO_TIMESTAMP
        return segment.first_timestamp_ms


def _task(log: PartitionLog, plan: CleaningPlan, now_ms: int) -> CleanTask:
    producers = log.producers.state.producers if log.producers.state else {}
    return CleanTask(
        topic_partition=log.topic_partition,
        directory=log.directory,
        config=log.config,
        plan=plan,
        segments=tuple(
            SourceSegment(segment.base_offset, segment.size, segment.files.path(LOG))
            for segment in log.segments.all[:-1]
            if segment.base_offset < plan.first_uncleanable_offset
        ),
        aborted=tuple(_aborted(log, plan.first_uncleanable_offset)),
        last_records={
            producer_id: LastRecord(
                producer.batches[-1].last_offset if producer.batches else None, producer.epoch
            )
            for producer_id, producer in producers.items()
        },
        now_ms=now_ms,
    )


def _aborted(log: PartitionLog, end_offset: int) -> list[AbortedTxn]:
    """Every aborted transaction with records below `end_offset`, wherever its marker is."""
    found: list[AbortedTxn] = []
    for segment in log.segments.all:
        if segment.txn_index is not None:
            aborted, is_complete = segment.txn_index.collect(log.segments.first_offset, end_offset)
            found += aborted
            if is_complete:
                break
    return found


def _still_has(log: PartitionLog, task: CleanTask) -> bool:
    """Whether all segments the round read are still there, closed, and of the same length."""
    inactive = {segment.base_offset: segment.size for segment in log.segments.all[:-1]}
    return all(inactive.get(source.base_offset) == source.size for source in task.segments)


def _report(task: CleanTask, outcome: CleanOutcome) -> None:
    _log.info(
        "%s: compacted offsets %d to %d to %d records, %d bytes; before: %d records, %d bytes",
        task.topic_partition, task.segments[0].base_offset, outcome.end_offset,
        outcome.records_after, outcome.bytes_after, outcome.records_before, outcome.bytes_before,
    )  # fmt: skip
