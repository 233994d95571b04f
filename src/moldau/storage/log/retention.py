"""Retention: which of the oldest segments to delete, and why. `plan_retention` is pure, `apply_retention` acts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from moldau.storage.log.log_state import LogState
from moldau.storage.log_config import LogConfig
from moldau.storage.segments.segment import RetiredSegment


class AgedSegment(Protocol):
    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int: ...

    def largest_timestamp_ms(self) -> int: ...


class LogBounds(NamedTuple):
    start_offset: int
    high_watermark: int
    end_offset: int


def apply_retention(log: LogState, now_ms: int) -> list[RetiredSegment]:
    """Takes out the segments that are too old, over the size limit or below the start offset. The caller removes their
    files after `file.delete.delay.ms`."""
    if log.health.offline_reason is not None:
        return []
    with log.health.guard(f"Deleting old segments of {log.topic_partition}"):
        bounds = LogBounds(log.start_offset, log.high_watermark, log.end_offset)
        reasons = plan_retention(log.segments.all, bounds, log.config, now_ms)
        if not reasons:
            return []
        if len(reasons) == len(log.segments.all):
            log.roll(log.end_offset, now_ms)
        log.advance_start(log.segments.all[len(reasons)].base_offset)
        retired = log.segments.retire_oldest(reasons)
        log.producers.remove_snapshots(below=log.segments.first_offset)
        return retired


def plan_retention(
    segments: Sequence[AgedSegment], bounds: LogBounds, config: LogConfig, now_ms: int
) -> list[str]:
    """Returns one reason for each segment to delete, oldest first. All segments when even the active one has expired:
    the log then rolls before it deletes. Keeps everything at or above the high watermark."""
    reasons: list[str] = []

    def extend(breaches: Callable[[int], bool], reason: str) -> None:
        while len(reasons) < len(segments):
            at = len(reasons)
            is_last = at + 1 == len(segments)
            end_offset = bounds.end_offset if is_last else segments[at + 1].base_offset
            if bounds.high_watermark < end_offset or (is_last and segments[at].size == 0) or not breaches(at):
                return
            reasons.append(reason)

    def is_before_start(at: int) -> bool:
        return at + 1 < len(segments) and segments[at + 1].base_offset <= bounds.start_offset

    extend(is_before_start, f"due to log start offset {bounds.start_offset} breach")
    if not config.delete:
        return reasons
    if config.retention_bytes >= 0:
        surplus = sum(segment.size for segment in segments[len(reasons) :]) - config.retention_bytes

        def is_surplus(at: int) -> bool:
            nonlocal surplus
            surplus -= segments[at].size
            return surplus >= 0

        extend(is_surplus, f"due to log retention size {config.retention_bytes} breach")
    if config.retention_ms >= 0:

        def is_old(at: int) -> bool:
            return now_ms - segments[at].largest_timestamp_ms() > config.retention_ms

        extend(is_old, f"due to log retention time {config.retention_ms}ms breach")
    return reasons
