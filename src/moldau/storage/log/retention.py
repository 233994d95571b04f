"""Which of the oldest segments may go, and why. Pure: the log carries the plan out."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from moldau.storage.log_config import LogConfig


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


def plan_retention(
    segments: Sequence[AgedSegment], bounds: LogBounds, config: LogConfig, now_ms: int
) -> list[str]:
    """One reason for each segment to delete, oldest first. All of them when even the active one is past its time:
    the log then rolls before it deletes. Nothing at or above the high watermark goes."""
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
