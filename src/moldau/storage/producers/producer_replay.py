"""Rebuilds a log's producers from a snapshot and the batches after it."""

from moldau.storage.producers.producer_log import ProducerLog, apply_batch
from moldau.storage.producers.producer_state import ProducerState
from moldau.storage.segments.batch_scan import SCAN_SLICE_BYTES, iter_headers
from moldau.storage.segments.segment_list import SegmentList


def rebuild_producers(segments: SegmentList, producers: ProducerLog, end_offset: int) -> ProducerState | None:
    """Returns the state at `end_offset`. Starts from the last usable snapshot inside the log, else from the log's
    start."""
    state, offset = ProducerState(), segments.first_offset
    for candidate in reversed(producers.snapshots):
        if segments.first_offset <= candidate <= end_offset:
            loaded = producers.read_snapshot(candidate)
            if loaded is not None:
                state, offset = loaded, candidate
                break
    if offset < end_offset:
        replay(state, segments, offset, end_offset)
    return None if state.is_empty else state


def replay(state: ProducerState, segments: SegmentList, offset: int, end_offset: int) -> None:
    for segment in segments.from_offset(offset):
        if segment.base_offset >= end_offset:
            return
        start = segment.position_of(offset) if offset > segment.base_offset else 0
        if start is None:
            continue
        file = segment.file()
        for position, header in iter_headers(file, start, segment.size, SCAN_SLICE_BYTES):
            if header.base_offset >= end_offset:
                return
            if header.producer_id >= 0 and header.base_offset >= offset:
                batch = memoryview(file.read(position, header.size)) if header.is_control else memoryview(b"")
                apply_batch(state, header, batch)
