"""What the cleaner may clean. Pure decisions over sizes, offsets and times, in Kafka's terms.

A log is clean up to its first dirty offset, which a checkpoint stores. It may be cleaned up to its first uncleanable
offset, which is always the start of a segment.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from moldau.storage.log_config import INT64_MAX, LogConfig
from moldau.storage.segments.segment import RELATIVE_OFFSET_MAX

_INDEX_ENTRY_BYTES_MAX: Final = 12
"""The size of a time index entry. Entries of the offset index are smaller."""


class PlannedSegment(Protocol):
    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int: ...


class TimedSegment(PlannedSegment, Protocol):
    def largest_timestamp_ms(self) -> int: ...

    def first_batch_timestamp_ms(self) -> int: ...


class CleanableLog(NamedTuple):
    """What the plan needs to know about a log. The last segment is the active one."""

    segments: Sequence[TimedSegment]
    start_offset: int
    last_stable_offset: int
    end_offset: int


class CleaningPlan(NamedTuple):
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    compaction_delay_ms: int
    """How far the oldest dirty record is past `max.compaction.lag.ms`; 0 when it is not."""
    is_checkpoint_wrong: bool
    """The checkpoint lies outside the log, for instance after a truncation, and should be set to the first dirty
    offset."""

    @property
    def total_bytes(self) -> int:
        return self.clean_bytes + self.cleanable_bytes

    @property
    def cleanable_ratio(self) -> float:
        return self.cleanable_bytes / self.total_bytes if self.total_bytes else 0.0

    def is_due(self, config: LogConfig) -> bool:
        if self.compaction_delay_ms > 0 and self.cleanable_bytes > 0:
            return True
        return self.cleanable_ratio > config.min_cleanable_dirty_ratio


def plan_cleaning(log: CleanableLog, config: LogConfig, checkpoint: int | None, now_ms: int) -> CleaningPlan:
    """`checkpoint` is the end of the last cleaning, None when there was none."""
    active_offset = log.segments[-1].base_offset
    first_dirty, is_wrong = log.start_offset, False
    if checkpoint is not None:
        if log.start_offset <= checkpoint <= log.end_offset:
            first_dirty = checkpoint
        else:
            is_wrong = True
    dirty = _inactive_from(log.segments, first_dirty)
    uncleanable = min(log.last_stable_offset, active_offset, _lag_bound(dirty, config, now_ms))
    beyond = _inactive_from(log.segments, max(first_dirty, uncleanable))
    first_uncleanable = beyond[0].base_offset if beyond else active_offset
    return CleaningPlan(
        first_dirty_offset=first_dirty,
        first_uncleanable_offset=first_uncleanable,
        clean_bytes=sum(each.size for each in log.segments[:-1] if each.base_offset < first_dirty),
        cleanable_bytes=sum(each.size for each in dirty if each.base_offset < first_uncleanable),
        compaction_delay_ms=_compaction_delay_ms(dirty, config, now_ms),
        is_checkpoint_wrong=is_wrong,
    )


def _lag_bound(dirty: Sequence[TimedSegment], config: LogConfig, now_ms: int) -> int:
    """The base offset of the first segment with a record younger than `min.compaction.lag.ms`."""
    if config.min_compaction_lag_ms <= 0:
        return INT64_MAX
    young_from = now_ms - config.min_compaction_lag_ms
    return next((each.base_offset for each in dirty if each.largest_timestamp_ms() > young_from), INT64_MAX)


def _compaction_delay_ms(dirty: Sequence[TimedSegment], config: LogConfig, now_ms: int) -> int:
    if config.max_compaction_lag_ms >= now_ms:
        return 0
    times = [timestamp for each in dirty if (timestamp := each.first_batch_timestamp_ms()) > 0]
    return max(now_ms - config.max_compaction_lag_ms - min(times), 0) if times else 0


_S = TypeVar("_S", bound=PlannedSegment)


def _inactive_from(segments: Sequence[_S], offset: int) -> Sequence[_S]:
    """The segment that holds `offset` and all segments after it, without the active one."""
    bases = [segment.base_offset for segment in segments]
    return segments[max(bisect_right(bases, offset) - 1, 0) : -1]


_C = TypeVar("_C")


def choose_filthiest(
    candidates: Iterable[tuple[_C, CleaningPlan, LogConfig]],
) -> tuple[_C, CleaningPlan] | None:
    """Returns the log with the highest dirty ratio among those that are due."""
    due = [(log, plan) for log, plan, config in candidates if plan.is_due(config)]
    return max(due, key=lambda each: each[1].cleanable_ratio, default=None)


def group_segments(segments: Sequence[_S], config: LogConfig, end_offset: int) -> list[list[_S]]:
    """Groups adjacent segments that fit into one by size, index size and offset range.

    `end_offset` is the end of the last group.
    """
    groups: list[list[_S]] = []
    size = 0
    ends = [segment.base_offset for segment in segments[1:]] + [end_offset]
    for segment, segment_end in zip(segments, ends, strict=True):
        fits = (
            bool(groups)
            and size + segment.size <= config.segment_bytes
            and _index_bytes(size + segment.size, config) <= config.segment_index_bytes
            and (not segment.size or segment_end - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX)
        )
        if fits:
            groups[-1].append(segment)
            size += segment.size
        else:
            groups.append([segment])
            size = segment.size
    return groups


def _index_bytes(size: int, config: LogConfig) -> int:
    return size // max(config.index_interval_bytes, 1) * _INDEX_ENTRY_BYTES_MAX
