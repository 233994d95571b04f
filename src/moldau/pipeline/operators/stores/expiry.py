"""Which entries of a windowed store are past its retention: kept in segments of time, dropped a segment at a time.

A reader never sees an entry past the retention, whether its segment was dropped yet or not: `oldest_ms` is the bound.
"""

from collections.abc import Iterator
from typing import Any

Entry = tuple[Any, ...]

SEGMENTS_PER_RETENTION = 4


class Expiry:
    __slots__ = ("_segments", "oldest_ms", "retention_ms", "segment_ms", "stream_time_ms")

    def __init__(self, retention_ms: int) -> None:
        self.retention_ms = retention_ms
        self.segment_ms = max(1, retention_ms // SEGMENTS_PER_RETENTION)
        self.stream_time_ms = -1
        self.oldest_ms = -(2**63)
        self._segments: dict[int, set[Entry]] = {}

    def observe(self, timestamp_ms: int) -> bool:
        """Takes note of a time; says whether it moved time on."""
        if timestamp_ms <= self.stream_time_ms:
            return False
        self.stream_time_ms = timestamp_ms
        self.oldest_ms = timestamp_ms - self.retention_ms + 1
        return True

    def add(self, timestamp_ms: int, entry: Entry) -> None:
        segment = timestamp_ms // self.segment_ms
        entries = self._segments.get(segment)
        if entries is None:
            entries = self._segments[segment] = set()
        entries.add(entry)

    def discard(self, timestamp_ms: int, entry: Entry) -> None:
        entries = self._segments.get(timestamp_ms // self.segment_ms)
        if entries is not None:
            entries.discard(entry)

    def expired(self) -> Iterator[Entry]:
        """Hands out, once, the entries of segments that are wholly past."""
        limit = self.oldest_ms // self.segment_ms
        for segment in [segment for segment in self._segments if segment < limit]:
            yield from self._segments.pop(segment)

    def clear(self) -> None:
        self._segments.clear()
        self.stream_time_ms = -1
        self.oldest_ms = -(2**63)
