"""Finds offsets by time. Reads the files of a fixed list of segments and unpacks batches: meant for a worker thread.

Skips a segment that retention removes in the meantime.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from moldau.core.errors import PeerError
from moldau.core.ports import File
from moldau.protocol.records.batch import BatchHeader
from moldau.protocol.records.record import scan_records, uncompressed_records
from moldau.storage.log.append_check import DECOMPRESSED_BYTES_MAX
from moldau.storage.segments.batch_scan import iter_headers
from moldau.storage.segments.offset_index import position_in
from moldau.storage.segments.segment import Segment
from moldau.storage.segments.time_index import last_in, relative_offset_in


class OffsetAndTime(NamedTuple):
    offset: int
    timestamp: int
    leader_epoch: int


class FrozenSegment(NamedTuple):
    """A segment as it was when the query began."""

    segment: Segment
    size: int
    max_timestamp_ms: int


def freeze(segments: Sequence[Segment]) -> list[FrozenSegment]:
    return [FrozenSegment(segment, segment.size, segment.max_timestamp_ms) for segment in segments]


def find_by_time(
    segments: Sequence[FrozenSegment], timestamp_ms: int, start_offset: int
) -> OffsetAndTime | None:
    """Finds the first record at or after `start_offset` that is not older than `timestamp_ms`."""
    for frozen in segments:
        try:
            if _max_timestamp_ms(frozen) < timestamp_ms:
                continue
            found = _find_in_segment(frozen, timestamp_ms, start_offset)
        except FileNotFoundError:
            continue
        if found is not None:
            return found
    return None


def find_youngest(segments: Sequence[FrozenSegment], start_offset: int) -> OffsetAndTime | None:
    """Finds the first of the records with the largest timestamp."""
    for frozen in sorted(segments, key=_max_timestamp_ms, reverse=True):
        timestamp_ms = _max_timestamp_ms(frozen)
        if timestamp_ms < 0:
            break
        with suppress(FileNotFoundError):
            return _find_in_segment(frozen, timestamp_ms, start_offset)
    return None


def _max_timestamp_ms(frozen: FrozenSegment) -> int:
    if frozen.max_timestamp_ms >= -1:
        return frozen.max_timestamp_ms
    return last_in(frozen.segment.time_index.snapshot())[0]


def _find_in_segment(frozen: FrozenSegment, timestamp_ms: int, start_offset: int) -> OffsetAndTime | None:
    segment = frozen.segment
    relative = relative_offset_in(segment.time_index.snapshot(), timestamp_ms)
    relative = max(relative, start_offset - segment.base_offset)
    position = position_in(segment.offset_index.snapshot(), relative)
    file = segment.reader_file()
    for at, header in iter_headers(file, position, frozen.size):
        if header.max_timestamp >= timestamp_ms and header.last_offset >= start_offset:
            found = _find_in_batch(file, at, header, timestamp_ms, start_offset)
            if found is not None:
                return found
    return None


def _find_in_batch(
    file: File, position: int, header: BatchHeader, timestamp_ms: int, start_offset: int
) -> OffsetAndTime | None:
    try:
        batch = file.read(position, header.size)
        data = uncompressed_records(batch, header, DECOMPRESSED_BYTES_MAX)
        for _, _, delta, offset_delta, _, _, _ in scan_records(data, header):
            timestamp = header.max_timestamp if header.is_log_append_time else header.base_timestamp + delta
            offset = header.base_offset + offset_delta
            if timestamp >= timestamp_ms and offset >= start_offset:
                return OffsetAndTime(offset, timestamp, header.partition_leader_epoch)
    except PeerError:
        # The batch was stored as sent and never unpacked. Readers skip to its end, so its start will do.
        return OffsetAndTime(
            max(header.base_offset, start_offset), header.max_timestamp, header.partition_leader_epoch
        )
    return None
