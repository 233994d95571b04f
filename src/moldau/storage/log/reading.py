"""Reading a log by offset and by time. Nothing here changes the log.

`find_offset_by_time` and `find_max_timestamp` may run on a worker thread: they work on the segments as they were when
the call began.
"""

from moldau.core.chunks import FileSlice
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.records.batch import LENGTH_AT, LOG_OVERHEAD
from moldau.storage.log.log_state import LogState
from moldau.storage.log.time_query import OffsetAndTime, find_by_time, find_youngest, freeze
from moldau.storage.segments.segment import Segment


def read(
    log: LogState, offset: int, bytes_max: int, *, end_offset: int, at_least_one_batch: bool
) -> FileSlice | None:
    """Returns whole batches of one segment, from the batch that holds `offset` up to `end_offset`. The last batch may
    be cut off at `bytes_max` if it is a short one; readers ask again from there. None when there is nothing."""
    if end_offset == log.end_offset and log.health.offline_reason is None:
        # Most readers are at the end, or continue from the start of a recent batch.
        if offset == end_offset:
            return None
        segment = log.segments.active
        start = segment.recent_position_of(offset) if offset >= log.start_offset else None
        if start is not None and 0 < segment.size - start <= bytes_max:
            return FileSlice(segment.file(), start, segment.size - start)
    if (found := _locate(log, offset, end_offset)) is None:
        return None
    segment, position, end = found
    try:
        size = _readable_bytes(segment, position, end, bytes_max, at_least_one_batch)
        return FileSlice(segment.file(), position, size) if size else None
    except OSError as error:
        raise log.health.fail(f"Reading {log.topic_partition}", error) from error


def _readable_bytes(
    segment: Segment, position: int, end: int, bytes_max: int, at_least_one_batch: bool
) -> int:
    """How many of the bytes from `position` to `end` to send: whole batches if they are long, else `bytes_max`."""
    size = end - position
    if size > bytes_max:
        first = int.from_bytes(segment.file().read(position + LENGTH_AT, 4), "big") + LOG_OVERHEAD
        if first > bytes_max:
            return first if at_least_one_batch else 0
        # A piece of a batch would be sent for nothing. The starts of long batches are all in the index.
        whole = segment.offset_index.batch_start_until(position + bytes_max) - position
        size = whole if whole >= first else bytes_max
    return max(size, 0)


def available_bytes(log: LogState, offset: int, end_offset: int, bytes_max: int) -> int:
    """How many bytes there are to read, up to `bytes_max`, whether or not the last batch is whole."""
    if (found := _locate(log, offset, end_offset)) is None:
        return 0
    _, position, end = found
    return min(end - position, bytes_max)


def _locate(log: LogState, offset: int, end_offset: int) -> tuple[Segment, int, int] | None:
    if log.health.offline_reason is not None:
        log.health.refuse()
    if not log.start_offset <= offset <= log.end_offset:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Received request for offset {offset} for partition {log.topic_partition}, "
            f"but we only have log segments in the range {log.start_offset} to {log.end_offset}.",
        )
    if offset >= end_offset:
        return None
    try:
        return log.segments.locate(offset, end_offset, log.end_offset)
    except OSError as error:
        raise log.health.fail(f"Reading {log.topic_partition}", error) from error


def find_offset_by_time(log: LogState, timestamp_ms: int) -> OffsetAndTime | None:
    """Finds the first record not older than `timestamp_ms`."""
    with log.health.guard(f"Reading {log.topic_partition}"):
        return find_by_time(freeze(log.segments.all), timestamp_ms, log.start_offset)


def find_max_timestamp(log: LogState) -> OffsetAndTime | None:
    """Finds the first of the records with the largest timestamp."""
    with log.health.guard(f"Reading {log.topic_partition}"):
        return find_youngest(freeze(log.segments.all), log.start_offset)
