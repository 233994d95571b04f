"""The segments of one log, oldest first; the last one is active.

Owns which segments there are: rolls, finds the one that holds an offset, retires and replaces. The tuple of segments
is replaced, never changed, so another thread may iterate over the one it got.
"""

import zlib
from bisect import bisect_right
from collections.abc import Sequence

from moldau.storage.disk import Disk
from moldau.storage.log_config import LogConfig
from moldau.storage.names import SWAP
from moldau.storage.segments.segment import RELATIVE_OFFSET_MAX, RetiredSegment, Segment, Shared
from moldau.storage.segments.segment_files import SegmentFiles


class SegmentList:
    __slots__ = ("_bases", "_segments", "_shared", "active", "config", "directory")

    def __init__(
        self, shared: Shared, directory: str, config: LogConfig, segments: Sequence[Segment]
    ) -> None:
        self.directory = directory
        self.config = config
        self._shared = shared
        self._replace(segments)

    def _replace(self, segments: Sequence[Segment]) -> None:
        self._segments = tuple(segments)
        self._bases = tuple(segment.base_offset for segment in segments)
        self.active = segments[-1]

    @property
    def disk(self) -> Disk:
        return self._shared.disk

    @property
    def all(self) -> tuple[Segment, ...]:
        return self._segments

    @property
    def first_offset(self) -> int:
        return self._bases[0]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    def from_offset(self, offset: int) -> tuple[Segment, ...]:
        """The segment that holds `offset` and all segments after it."""
        return self._segments[max(bisect_right(self._bases, offset) - 1, 0) :]

    def locate(self, offset: int, end_offset: int, log_end_offset: int) -> tuple[Segment, int, int] | None:
        """Returns the segment and the byte range in it with the batches from the one that holds `offset` up to
        `end_offset`. Compaction leaves gaps, so the batch may be in a later segment than the offset suggests."""
        segments = self._segments
        at = len(segments) - 1
        if offset < self.active.base_offset:
            at = bisect_right(self._bases, offset) - 1
        for index in range(max(at, 0), len(segments)):
            segment = segments[index]
            if segment.base_offset >= end_offset:
                return None
            position = segment.position_of(offset)
            if position is not None:
                segment_end = log_end_offset if segment is self.active else self._bases[index + 1]
                end = None if end_offset >= segment_end else segment.position_of(end_offset)
                return segment, position, segment.size if end is None else end
        return None

    def aborted_transactions(self, first_offset: int, end_offset: int) -> list[tuple[int, int]]:
        """(producer id, first offset) of each aborted transaction that overlaps the range."""
        found: list[tuple[int, int]] = []
        for segment in self.from_offset(first_offset):
            if segment.txn_index is not None:
                aborted, is_complete = segment.txn_index.collect(first_offset, end_offset)
                found += [(each.producer_id, each.first_offset) for each in aborted]
                if is_complete:
                    break
        return found

    def is_roll_due(self, size: int, last_offset: int, timestamp_ms: int, now_ms: int) -> bool:
        """Whether a batch of `size` bytes must go to a new segment."""
        active = self.active
        return (
            active.size + size > self.config.segment_bytes
            or active.is_index_full
            or last_offset - active.base_offset > RELATIVE_OFFSET_MAX
            or active.is_past_roll_age(self.config.roll_ms, now_ms, timestamp_ms)
        )

    def roll(self, base_offset: int, now_ms: int) -> None:
        if self.active.base_offset == base_offset:
            return  # it is empty, and the next batch goes there anyway
        self.active.seal()
        self._replace((*self._segments, self._create(base_offset, now_ms)))

    def _create(self, base_offset: int, now_ms: int) -> Segment:
        return create_segment(self._shared, self.directory, base_offset, self.config, now_ms)

    def retire_oldest(self, reasons: Sequence[str]) -> list[RetiredSegment]:
        leaving = self._segments[: len(reasons)]
        self._replace(self._segments[len(reasons) :])
        return [segment.retire(reason) for segment, reason in zip(leaving, reasons, strict=True)]

    def truncate_to(self, offset: int, now_ms: int) -> list[RetiredSegment]:
        """Drops every batch that ends at or after `offset`, which must not be below the first segment."""
        kept = max(bisect_right(self._bases, offset), 1)
        retired = self._retire_from(kept, f"due to truncation to offset {offset}")
        self.active.truncate_to(offset, now_ms)
        return retired

    def _retire_from(self, kept: int, reason: str) -> list[RetiredSegment]:
        """Retires the newest segment first and syncs before anything else is cut: a crash must not leave a gap, nor
        bring back segments that no longer follow."""
        leaving = self._segments[kept:]
        if kept:
            self._replace(self._segments[:kept])
        retired = [segment.retire(reason) for segment in reversed(leaving)]
        if retired:
            self.disk.sync_directory(self.directory)
        return retired

    def drop_after(self, last: Segment) -> list[RetiredSegment]:
        """Recovery found damage in `last`: the segments after it can no longer be trusted."""
        return self._retire_from(self._segments.index(last) + 1, "due to damage in the segment before it")

    def start_over(self, offset: int, now_ms: int) -> list[RetiredSegment]:
        """Drops every segment; the next batch goes to `offset`."""
        reason = f"due to truncation of the whole log, which now starts at offset {offset}"
        retired = self._retire_from(0, reason)
        self._replace([self._create(offset, now_ms)])
        return retired

    def replace(self, new: Sequence[Segment], old: Sequence[Segment], reason: str) -> list[RetiredSegment]:
        """Replaces `old` inactive segments with compacted ones, which are synced under `.cleaned` names.

        The file names tell a restart how far the replacement got: `.cleaned` files are removed, a complete set of
        `.swap` files is completed.
        """
        for segment in reversed(new):
            segment.files.rename(SWAP)
        replaced = {segment.base_offset for segment in old}
        kept = [segment for segment in self._segments if segment.base_offset not in replaced]
        self._replace(sorted((*kept, *new), key=lambda segment: segment.base_offset))
        retired = [segment.retire(reason) for segment in old]
        for segment in new:
            segment.files.rename("")
        return retired


def create_segment(
    shared: Shared, directory: str, base_offset: int, config: LogConfig, now_ms: int
) -> Segment:
    files = SegmentFiles(shared.disk, directory, base_offset)
    jitter_max_ms = min(config.segment_jitter_ms, config.segment_ms)
    # Spreads the rolls of many partitions over time. Derived from the name, so that a run can be repeated.
    jitter_ms = zlib.crc32(files.path("").encode()) % jitter_max_ms if jitter_max_ms > 0 else 0
    return Segment.create(files, shared, config, now_ms=now_ms, jitter_ms=jitter_ms)
