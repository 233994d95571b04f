"""Cutting a log at its ends: DeleteRecords at the start, a follower's truncation at the end."""

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.storage.log.log_state import LogState
from moldau.storage.producers.producer_replay import rebuild_producers
from moldau.storage.segments.segment import RetiredSegment


def delete_records_before(log: LogState, offset: int) -> int:
    """DeleteRecords: moves the start offset to `offset`, or to the high watermark for -1, and returns it. The next
    retention removes the segments that are now below it."""
    if offset == -1:
        offset = log.high_watermark
    if not 0 <= offset <= log.high_watermark:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Cannot increment the log start offset to {offset} of partition {log.topic_partition} "
            f"since it is larger than the high watermark {log.high_watermark}",
        )
    log.advance_start(offset)
    return log.start_offset


def truncate_to(log: LogState, offset: int, *, now_ms: int) -> list[RetiredSegment]:
    """Drops every batch that ends at or after `offset`: a follower's log goes back to where it agrees with the
    leader's. The caller writes the directory's checkpoints before it appends again."""
    if offset >= log.end_offset:
        # A leader that wrote nothing leaves an epoch at the very end, and the next leader may not know it.
        log.epochs.truncate_from_end(offset)
        return []
    if offset < log.segments.first_offset:
        return truncate_fully_and_start_at(log, offset, now_ms=now_ms)
    with log.health.guard(f"Truncating {log.topic_partition}"):
        log.producers.remove_snapshots(above=offset)
        retired = log.segments.truncate_to(offset, now_ms)
        log.move_end_back(offset)
        log.producers.replace_state(rebuild_producers(log.segments, log.producers, offset))
        log.producers.high_watermark_advanced(log.high_watermark)
        return retired


def truncate_fully_and_start_at(log: LogState, offset: int, *, now_ms: int) -> list[RetiredSegment]:
    """Drops every batch; the next one goes to `offset`."""
    with log.health.guard(f"Truncating {log.topic_partition}"):
        log.producers.remove_snapshots(above=-1)
        retired = log.segments.start_over(offset, now_ms)
        log.move_end_back(offset)
        log.epochs.clear()
        log.producers.replace_state(None)
        log.start_offset = log.high_watermark = offset
        return retired
