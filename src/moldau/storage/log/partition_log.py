"""The log of one partition: an ordered list of segments, appended to at the end, read anywhere, cut at both
ends.

Owns offsets, the high watermark, epochs, producers and segments of one partition directory. Assigns no
leadership and waits for nobody: fsync and unlinking are handed out as jobs. All methods belong to the owner's
thread except `find_offset_by_time` and `find_max_timestamp`.
"""

import struct
from typing import Final, NamedTuple

from crc32c import crc32c

from moldau.core.chunks import FileSlice
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import NO_TIMESTAMP, TopicId, TopicPartition
from moldau.protocol.records.batch import (
    ATTRIBUTES_AT,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    SEQUENCE_MAX,
    TRANSACTIONAL_FLAG,
    BatchHeader,
)
from moldau.storage.disk import DirectoryHealth
from moldau.storage.log.append_check import (
    RECORD_BYTES_MIN,
    UnpackingNeeded,
    check_follower_batches,
    needs_unpacking,
    prepare_batch,
)
from moldau.storage.log.epochs import LeaderEpochs
from moldau.storage.log.flush import FlushJob, FlushState, add_unsaved_files
from moldau.storage.log.partition_metadata import topic_id_file
from moldau.storage.log.retention import LogBounds, plan_retention
from moldau.storage.log.time_query import OffsetAndTime, find_by_time, find_youngest, freeze
from moldau.storage.log_config import LogConfig
from moldau.storage.names import PARTITION_METADATA
from moldau.storage.producers.producer_log import ProducerLog
from moldau.storage.producers.producer_replay import rebuild_producers
from moldau.storage.producers.producer_state import BatchMark
from moldau.storage.segments.segment import RELATIVE_OFFSET_MAX, RetiredSegment, Segment
from moldau.storage.segments.segment_list import SegmentList

PLAIN_ATTRIBUTES: Final = frozenset(codec | flag for codec in range(5) for flag in (0, TRANSACTIONAL_FLAG))
"""A known codec, perhaps transactional, nothing else."""
_OFFSET_LENGTH_EPOCH: Final = struct.Struct(">qii")


class Appended(NamedTuple):
    base_offset: int
    last_offset: int
    log_append_time_ms: int
    """-1 where records keep the producer's time."""
    log_start_offset: int
    is_duplicate: bool


class PartitionLog:
    __slots__ = (
        "_batch_bytes_max",
        "_config",
        "_flush",
        "_health",
        "_is_closed",
        "_roll_ms",
        "_segment_bytes",
        "_stores_as_sent",
        "_timestamp_after_max_ms",
        "end_offset",
        "epochs",
        "high_watermark",
        "producers",
        "segments",
        "start_offset",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: TopicId | None,
        config: LogConfig,
        health: DirectoryHealth,
        segments: SegmentList,
        epochs: LeaderEpochs,
        producers: ProducerLog,
        *,
        start_offset: int,
        end_offset: int,
        high_watermark: int,
        recovery_point: int,
        now_ms: int,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.segments = segments
        self.epochs = epochs
        self.producers = producers
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.high_watermark = high_watermark
        self.config = config
        self._health = health
        self._is_closed = False
        self._flush = FlushState(segments, recovery_point, now_ms)
        producers.high_watermark_advanced(high_watermark)

    # --- what it is

    @property
    def config(self) -> LogConfig:
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._segment_bytes = config.segment_bytes
        self._batch_bytes_max = min(config.max_message_bytes, config.segment_bytes)
        self._roll_ms = config.roll_ms
        self._stores_as_sent = config.keeps_batches_as_sent
        self._timestamp_after_max_ms = config.message_timestamp_after_max_ms
        self.segments.config = config

    @property
    def directory(self) -> str:
        return self.segments.directory

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def recovery_point(self) -> int:
        """Every batch below is on stable storage."""
        return self._flush.recovery_point

    @property
    def recovery_checkpoint(self) -> int:
        """From where a start after a crash must read."""
        return self._flush.checkpoint

    @property
    def last_stable_offset(self) -> int:
        unstable = self.producers.first_unstable_offset
        return self.high_watermark if unstable is None else min(unstable, self.high_watermark)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest epoch we know that is not above `epoch` (KIP-101, KIP-320);
        (-1, -1) when that cannot be told."""
        return self.epochs.end_offset_for(epoch, self.end_offset)

    def assign_topic_id(self, topic_id: TopicId) -> None:
        """For a log that has none: older than topic ids, or its file was lost in a crash."""
        assert self.topic_id in (None, topic_id)
        with self._health.guard(f"Naming the topic of {self.topic_partition}"):
            self.segments.disk.write_atomically(
                f"{self.directory}/{PARTITION_METADATA}", topic_id_file(topic_id)
            )
        self.topic_id = topic_id

    # --- appending

    def prepare(self, records: memoryview, *, now_ms: int) -> memoryview:
        """The batch as it is to be stored, for `append_as_leader(is_prepared=True)`. Safe on a worker thread."""
        return prepare_batch(records, self.topic_partition, self._config, now_ms=now_ms, is_client=True)

    def append_as_leader(
        self,
        records: memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        is_client: bool = True,
        is_prepared: bool = False,
    ) -> Appended:
        """Gives the one batch in `records` its offsets, in place, and writes it. The usual batch costs a header,
        a CRC and a write; whatever is unusual goes through `append_check`. A client's batch that must be
        unpacked raises UnpackingNeeded: `prepare` it elsewhere and come back."""
        if self._health.offline_reason is not None:
            self._health.refuse()
        size = len(records)
        is_usual = False
        if size >= HEADER_SIZE and self._stores_as_sent and not is_prepared:
            fields = HEADER.unpack_from(records)
            base, length, _, magic, crc, flags, delta, _, time_ms, producer_id, epoch, sequence, count = (
                fields
            )
            is_usual = (
                magic == MAGIC
                and length + LOG_OVERHEAD == size <= self._batch_bytes_max
                and base == 0
                and flags in PLAIN_ATTRIBUTES
                and count == delta + 1 > 0
                and (flags or count * RECORD_BYTES_MIN <= size - HEADER_SIZE)
                and time_ms - now_ms <= self._timestamp_after_max_ms
                and (producer_id < 0 or sequence >= 0)
                and crc32c(records[ATTRIBUTES_AT:]) == crc
            )
        if not is_usual:
            if not is_prepared:
                if is_client and needs_unpacking(records, self._config, now_ms):
                    raise UnpackingNeeded
                records = prepare_batch(
                    records, self.topic_partition, self._config, now_ms=now_ms, is_client=is_client
                )
            size = len(records)
            fields = HEADER.unpack_from(records)
            _, length, _, _, _, flags, delta, _, time_ms, producer_id, epoch, sequence, _ = fields
        offset = self.end_offset
        last_offset = offset + delta
        producer = batch = None
        if producer_id >= 0:
            producer = self.producers.next_in_line(producer_id, epoch, sequence, flags)
            if producer is None:
                batch = BatchHeader._make((offset, length, leader_epoch, *fields[3:]))
                duplicate = self.producers.check(self.topic_partition, batch, records, is_client)
                if duplicate is not None:
                    return self._already_appended(duplicate)
        _OFFSET_LENGTH_EPOCH.pack_into(records, 0, offset, length, leader_epoch)
        self._write(records, size, offset, last_offset, time_ms, now_ms)
        if leader_epoch != self.epochs.latest:
            self.epochs.assign(leader_epoch, offset)
        if producer is not None:
            producer.add(epoch, BatchMark((sequence + delta) & SEQUENCE_MAX, last_offset, delta, time_ms))
        elif batch is not None:
            self._apply_producer(batch, records)
        append_time_ms = now_ms if self._config.log_append_time else NO_TIMESTAMP
        return Appended(offset, last_offset, append_time_ms, self.start_offset, False)

    def _already_appended(self, mark: BatchMark) -> Appended:
        append_time_ms = mark.timestamp_ms if self._config.log_append_time else NO_TIMESTAMP
        return Appended(mark.first_offset, mark.last_offset, append_time_ms, self.start_offset, True)

    def _write(
        self, records: memoryview, size: int, offset: int, last_offset: int, timestamp_ms: int, now_ms: int
    ) -> None:
        segment = self.segments.active
        first_timestamp_ms = segment.first_timestamp_ms
        try:
            if (
                segment.size + size > self._segment_bytes
                or first_timestamp_ms is None
                or first_timestamp_ms < 0
                or timestamp_ms - first_timestamp_ms > self._roll_ms - segment.jitter_ms
                or last_offset - segment.base_offset > RELATIVE_OFFSET_MAX
                or segment.is_index_full
            ) and self.segments.is_roll_due(size, last_offset, timestamp_ms, now_ms):
                self._roll(offset, now_ms)
                segment = self.segments.active
            segment.append(records, size, offset, last_offset, timestamp_ms)
        except OSError as error:
            raise self._health.fail(f"Appending to {self.topic_partition}", error) from error
        self.end_offset = last_offset + 1

    def _apply_producer(self, batch: BatchHeader, records: memoryview) -> None:
        aborted = self.producers.apply(batch, records)
        if aborted is not None:
            self.segments.active.add_aborted(aborted)

    def append_as_follower(self, records: memoryview, *, now_ms: int) -> Appended:
        """Batches as their leader stored them: offsets and epochs stay, in one write."""
        if self._health.offline_reason is not None:
            self._health.refuse()
        batches = check_follower_batches(records, self.topic_partition, self.end_offset)
        if not batches:
            return Appended(self.end_offset, self.end_offset - 1, NO_TIMESTAMP, self.start_offset, False)
        first, last = batches[0][1], batches[-1][1]
        size = batches[-1][0] + last.size
        timestamp_ms = max(header.max_timestamp for _, header in batches)
        segments = self.segments
        try:
            if segments.is_roll_due(size, last.last_offset, timestamp_ms, now_ms):
                self._roll(first.base_offset, now_ms)
            active = segments.active
            active.append_run(records[:size], batches)
        except OSError as error:
            raise self._health.fail(f"Appending to {self.topic_partition}", error) from error
        self.end_offset = last.next_offset
        for position, header in batches:
            if header.partition_leader_epoch >= 0:
                self.epochs.assign(header.partition_leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                self._apply_producer(header, records[position : position + header.size])
        return Appended(first.base_offset, last.last_offset, NO_TIMESTAMP, self.start_offset, False)

    def advance_high_watermark(self, offset: int) -> None:
        """Never goes back, and not past the end."""
        if offset > self.high_watermark:
            self.high_watermark = min(offset, self.end_offset)
            if self.producers.first_unstable_offset is not None:
                self.producers.high_watermark_advanced(self.high_watermark)

    # --- reading

    def read(
        self, offset: int, bytes_max: int, *, end_offset: int, at_least_one_batch: bool
    ) -> FileSlice | None:
        """Whole batches from the one that holds `offset`, below `end_offset`, from one segment; the last may be
        cut at `bytes_max` if it is a short one, and readers ask again from there. None when there is nothing."""
        if end_offset == self.end_offset and self._health.offline_reason is None:
            # Most readers are at the end, or go on from where a recent batch began.
            if offset == end_offset:
                return None
            segment = self.segments.active
            start = segment.recent_position_of(offset) if offset >= self.start_offset else None
            if start is not None and 0 < segment.size - start <= bytes_max:
                return FileSlice(segment.file(), start, segment.size - start)
        if (found := self._locate(offset, end_offset)) is None:
            return None
        segment, position, end = found
        try:
            size = segment.readable_bytes(position, end, bytes_max, at_least_one_batch=at_least_one_batch)
            return FileSlice(segment.file(), position, size) if size else None
        except OSError as error:
            raise self._health.fail(f"Reading {self.topic_partition}", error) from error

    def available_bytes(self, offset: int, end_offset: int, bytes_max: int) -> int:
        """How much there is to read, up to `bytes_max`, be the last batch whole or cut."""
        if (found := self._locate(offset, end_offset)) is None:
            return 0
        _, position, end = found
        return min(end - position, bytes_max)

    def _locate(self, offset: int, end_offset: int) -> tuple[Segment, int, int] | None:
        if self._health.offline_reason is not None:
            self._health.refuse()
        if not self.start_offset <= offset <= self.end_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Received request for offset {offset} for partition {self.topic_partition}, "
                f"but we only have log segments in the range {self.start_offset} to {self.end_offset}.",
            )
        if offset >= end_offset:
            return None
        try:
            return self.segments.locate(offset, end_offset, self.end_offset)
        except OSError as error:
            raise self._health.fail(f"Reading {self.topic_partition}", error) from error

    def find_offset_by_time(self, timestamp_ms: int) -> OffsetAndTime | None:
        """The first record not older than `timestamp_ms`. For a worker thread."""
        with self._health.guard(f"Reading {self.topic_partition}"):
            return find_by_time(freeze(self.segments.all), timestamp_ms, self.start_offset)

    def find_max_timestamp(self) -> OffsetAndTime | None:
        """The first of the youngest records. For a worker thread."""
        with self._health.guard(f"Reading {self.topic_partition}"):
            return find_youngest(freeze(self.segments.all), self.start_offset)

    # --- cutting

    def delete_records_before(self, offset: int) -> int:
        """DeleteRecords: readers start at `offset` from now on, at the high watermark for -1. Whole segments go
        with the next retention. Returns the new start offset."""
        if offset == -1:
            offset = self.high_watermark
        if not 0 <= offset <= self.high_watermark:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Cannot increment the log start offset to {offset} of partition {self.topic_partition} "
                f"since it is larger than the high watermark {self.high_watermark}",
            )
        self._advance_start(offset)
        return self.start_offset

    def _advance_start(self, offset: int) -> None:
        if offset > self.start_offset:
            self.start_offset = offset
            self.epochs.truncate_from_start(offset)

    def apply_retention(self, now_ms: int) -> list[RetiredSegment]:
        """Takes out what is too old, too much or before the start. The caller removes the files after
        `file.delete.delay.ms`."""
        if self._health.offline_reason is not None:
            return []
        with self._health.guard(f"Deleting old segments of {self.topic_partition}"):
            bounds = LogBounds(self.start_offset, self.high_watermark, self.end_offset)
            reasons = plan_retention(self.segments.all, bounds, self._config, now_ms)
            if not reasons:
                return []
            if len(reasons) == len(self.segments.all):
                self._roll(self.end_offset, now_ms)
            self._advance_start(self.segments.all[len(reasons)].base_offset)
            retired = self.segments.retire_oldest(reasons)
            self.producers.remove_snapshots(below=self.segments.first_offset)
            return retired

    def truncate_to(self, offset: int, *, now_ms: int) -> list[RetiredSegment]:
        """Forgets every batch that ends at or after `offset`: a follower's log goes back to its leader's. The
        caller writes the directory's checkpoints before it appends again."""
        if offset >= self.end_offset:
            # A leadership that wrote nothing leaves an epoch at the very end, which the next leader may not know.
            self.epochs.truncate_from_end(offset)
            return []
        if offset < self.segments.first_offset:
            return self.truncate_fully_and_start_at(offset, now_ms=now_ms)
        with self._health.guard(f"Truncating {self.topic_partition}"):
            self.producers.remove_snapshots(above=offset)
            retired = self.segments.truncate_to(offset, now_ms)
            self._cut_end(offset)
            self.producers.replace_state(rebuild_producers(self.segments, self.producers, offset))
            self.producers.high_watermark_advanced(self.high_watermark)
            return retired

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int) -> list[RetiredSegment]:
        with self._health.guard(f"Truncating {self.topic_partition}"):
            self.producers.remove_snapshots(above=-1)
            retired = self.segments.start_over(offset, now_ms)
            self._cut_end(offset)
            self.epochs.clear()
            self.producers.replace_state(None)
            self.start_offset = self.high_watermark = offset
            return retired

    def _cut_end(self, offset: int) -> None:
        self.end_offset = offset
        self.start_offset = min(self.start_offset, offset)
        self.high_watermark = min(self.high_watermark, offset)
        self._flush.cut(offset)
        self.epochs.truncate_from_end(offset)

    # --- rolling and flushing

    def roll(self, now_ms: int) -> None:
        with self._health.guard(f"Rolling a new segment of {self.topic_partition}"):
            self._roll(self.end_offset, now_ms)

    def _roll(self, base_offset: int, now_ms: int) -> None:
        self.segments.roll(base_offset, now_ms)
        self.producers.take_snapshot(base_offset)

    def flush_due(self, now_ms: int) -> bool:
        """Whether `flush.messages` or `flush.ms` ask for a flush now."""
        return self._flush.is_due(self.end_offset, now_ms)

    @property
    def has_rolled_since_flush(self) -> bool:
        """Whether complete segments wait to be flushed. Kafka does that right after a roll, in the background."""
        return self._flush.has_rolled

    def begin_flush(self, now_ms: int, *, rolled_only: bool = False) -> FlushJob | None:
        """A job that brings the log to stable storage up to its end, or its complete segments alone. None when
        there is nothing to do or one is under way."""
        if self._health.offline_reason is not None:
            return None
        with self._health.guard(f"Flushing {self.topic_partition}"):
            has_rolled = self._flush.has_rolled
            job = self._flush.begin(self.end_offset, now_ms, rolled_only=rolled_only)
        if job is not None:
            if has_rolled:
                add_unsaved_files(job, self.producers, self.epochs)
            if self.recovery_point == 0 and self.topic_id is not None:
                # Not synced at creation, so that ten thousand partitions can be made at once.
                job.add_replacement(PARTITION_METADATA, topic_id_file(self.topic_id))
        return job

    def finish_flush(self, job: FlushJob) -> None:
        """Moves the recovery point; raises StorageFault when the job failed, unless the log is gone anyway."""
        if self._is_closed:
            return
        self._flush.finish(job)
        if job.error is not None:
            raise self._health.fail(f"Flushing {self.topic_partition}", job.error) from job.error
        if job.is_stale:
            with self._health.guard(f"Flushing {self.topic_partition}"):
                self.producers.remove_strays(job.replaced_files)

    def expire_producers(self, now_ms: int) -> None:
        self.producers.expire(now_ms, self._config.producer_id_expiration_ms)

    def begin_close(self) -> FlushJob:
        """What brings all that a quick start needs to stable storage. Nothing may be appended any more."""
        with self._health.guard(f"Closing {self.topic_partition}"):
            self.segments.active.seal()
            self.producers.take_last_snapshot(self.end_offset)
            job = self._flush.begin_last(self.end_offset)
            add_unsaved_files(job, self.producers, self.epochs)
        return job

    def close(self, *, clean: bool) -> None:
        """Takes no more requests. When clean, a start need not read the log again."""
        if clean and self._health.offline_reason is None:
            job = self.begin_close()
            job.run()
            self.finish_flush(job)
        self._is_closed = True
        for segment in self.segments.all:
            segment.leave()
        self._health = DirectoryHealth(self._health.directory)
        self._health.offline_reason = f"The log of {self.topic_partition} is closed."
