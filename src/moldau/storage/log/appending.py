"""Appending to a log: as the leader, which gives batches their offsets, or as a follower, which keeps them.

The usual batch is checked here, inline, and costs a header, a CRC and a write. Anything unusual goes through
`append_check`, which also says what is wrong with a batch that is rejected.
"""

import struct
from typing import Final, NamedTuple

from crc32c import crc32c

from moldau.core.ids import NO_TIMESTAMP
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
from moldau.storage.log.append_check import (
    RECORD_BYTES_MIN,
    UnpackingNeeded,
    check_follower_batches,
    needs_unpacking,
    prepare_batch,
)
from moldau.storage.log.log_state import LogState
from moldau.storage.producers.producer_state import BatchMark
from moldau.storage.segments.segment import RELATIVE_OFFSET_MAX

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


def prepare(log: LogState, records: memoryview, *, now_ms: int) -> memoryview:
    """Returns the batch as it is to be stored, for `append_as_leader(is_prepared=True)`. Safe on a worker thread."""
    return prepare_batch(records, log.topic_partition, log.config, now_ms=now_ms, is_client=True)


def append_as_leader(
    log: LogState,
    records: memoryview,
    *,
    leader_epoch: int,
    now_ms: int,
    is_client: bool = True,
    is_prepared: bool = False,
) -> Appended:
    """Writes the one batch in `records`, after giving it its offsets in place. A client's batch that must be unpacked
    raises UnpackingNeeded: `prepare` it on a worker thread and append the result."""
    if log.health.offline_reason is not None:
        log.health.refuse()
    size = len(records)
    is_usual = False
    if size >= HEADER_SIZE and log.stores_as_sent and not is_prepared:
        fields = HEADER.unpack_from(records)
        base, length, _, magic, crc, flags, delta, _, time_ms, producer_id, epoch, sequence, count = fields
        is_usual = (
            magic == MAGIC
            and length + LOG_OVERHEAD == size <= log.batch_bytes_max
            and base == 0
            and flags in PLAIN_ATTRIBUTES
            and count == delta + 1 > 0
            and (flags or count * RECORD_BYTES_MIN <= size - HEADER_SIZE)
            and time_ms - now_ms <= log.timestamp_after_max_ms
            and (producer_id < 0 or sequence >= 0)
            and crc32c(records[ATTRIBUTES_AT:]) == crc
        )
    if not is_usual:
        if not is_prepared:
            records = _prepared_inline(log, records, now_ms, is_client)
        size = len(records)
        fields = HEADER.unpack_from(records)
        _, length, _, _, _, flags, delta, _, time_ms, producer_id, epoch, sequence, _ = fields
    offset = log.end_offset
    last_offset = offset + delta
    producer = batch = None
    if producer_id >= 0:
        producer = log.producers.next_in_line(producer_id, epoch, sequence, flags)
        if producer is None:
            batch = BatchHeader._make((offset, length, leader_epoch, *fields[3:]))
            duplicate = log.producers.check(log.topic_partition, batch, records, is_client)
            if duplicate is not None:
                return _already_appended(log, duplicate)
    _OFFSET_LENGTH_EPOCH.pack_into(records, 0, offset, length, leader_epoch)
    _write(log, records, size, offset, last_offset, time_ms, now_ms)
    if leader_epoch != log.epochs.latest:
        log.epochs.assign(leader_epoch, offset)
    if producer is not None:
        producer.add(epoch, BatchMark((sequence + delta) & SEQUENCE_MAX, last_offset, delta, time_ms))
    elif batch is not None:
        _apply_producer(log, batch, records)
    append_time_ms = now_ms if log.log_append_time else NO_TIMESTAMP
    return Appended(offset, last_offset, append_time_ms, log.start_offset, False)


def _prepared_inline(log: LogState, records: memoryview, now_ms: int, is_client: bool) -> memoryview:
    if is_client and needs_unpacking(records, log.config, now_ms):
        raise UnpackingNeeded
    return prepare_batch(records, log.topic_partition, log.config, now_ms=now_ms, is_client=is_client)


def _already_appended(log: LogState, mark: BatchMark) -> Appended:
    append_time_ms = mark.timestamp_ms if log.log_append_time else NO_TIMESTAMP
    return Appended(mark.first_offset, mark.last_offset, append_time_ms, log.start_offset, True)


def _write(
    log: LogState,
    records: memoryview,
    size: int,
    offset: int,
    last_offset: int,
    timestamp_ms: int,
    now_ms: int,
) -> None:
    segment = log.segments.active
    first_timestamp_ms = segment.first_timestamp_ms
    try:
        if (
            segment.size + size > log.segment_bytes
            or first_timestamp_ms is None
            or first_timestamp_ms < 0
            or timestamp_ms - first_timestamp_ms > log.roll_ms - segment.jitter_ms
            or last_offset - segment.base_offset > RELATIVE_OFFSET_MAX
            or segment.is_index_full
        ) and log.segments.is_roll_due(size, last_offset, timestamp_ms, now_ms):
            log.roll(offset, now_ms)
            segment = log.segments.active
        segment.append(records, size, offset, last_offset, timestamp_ms)
    except OSError as error:
        raise log.health.fail(f"Appending to {log.topic_partition}", error) from error
    log.end_offset = last_offset + 1


def _apply_producer(log: LogState, batch: BatchHeader, records: memoryview) -> None:
    aborted = log.producers.apply(batch, records)
    if aborted is not None:
        log.segments.active.add_aborted(aborted)


def append_as_follower(log: LogState, records: memoryview, *, now_ms: int) -> Appended:
    """Writes batches as the leader stored them, with their offsets and epochs, in one write."""
    if log.health.offline_reason is not None:
        log.health.refuse()
    batches = check_follower_batches(records, log.topic_partition, log.end_offset)
    if not batches:
        return Appended(log.end_offset, log.end_offset - 1, NO_TIMESTAMP, log.start_offset, False)
    first, last = batches[0][1], batches[-1][1]
    size = batches[-1][0] + last.size
    timestamp_ms = max(header.max_timestamp for _, header in batches)
    try:
        if log.segments.is_roll_due(size, last.last_offset, timestamp_ms, now_ms):
            log.roll(first.base_offset, now_ms)
        log.segments.active.append_run(records[:size], batches)
    except OSError as error:
        raise log.health.fail(f"Appending to {log.topic_partition}", error) from error
    log.end_offset = last.next_offset
    for position, header in batches:
        if header.partition_leader_epoch >= 0:
            log.epochs.assign(header.partition_leader_epoch, header.base_offset)
        if header.producer_id >= 0:
            _apply_producer(log, header, records[position : position + header.size])
    return Appended(first.base_offset, last.last_offset, NO_TIMESTAMP, log.start_offset, False)
