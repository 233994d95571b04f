"""The retention of a windowed store: entries are kept in segments of time and dropped a segment at a time.

A reader never sees an entry past the retention, even if its segment still exists: `oldest_ms` is the bound.
"""

from collections.abc import Iterator
from typing import Any

from moldau.pipeline.operators.stores.store import Store

Entry = tuple[Any, ...]

SEGMENTS_PER_RETENTION = 32


class Expiry:
    __slots__ = ("_dropped_below", "_segments", "oldest_ms", "retention_ms", "segment_ms", "stream_time_ms")

    def __init__(self, retention_ms: int) -> None:
        self.retention_ms = retention_ms
        self.segment_ms = max(1, retention_ms // SEGMENTS_PER_RETENTION)
        self.stream_time_ms = -1
        self.oldest_ms = -(2**63)
        self._segments: dict[int, set[Entry]] = {}
        self._dropped_below = -(2**63)

    def observe(self, timestamp_ms: int) -> bool:
        """Notes a timestamp. Returns whether it advanced the time."""
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
        """Returns, once, the entries of segments that are entirely past."""
        limit = self.oldest_ms // self.segment_ms
        if limit == self._dropped_below:
            return
        self._dropped_below = limit
        for segment in [segment for segment in self._segments if segment < limit]:
            yield from self._segments.pop(segment)

    def between(self, from_ms: int, to_ms: int) -> Iterator[Entry]:
        """Entries whose times may be in [from, to]: those of the segments that overlap it."""
        first, last = from_ms // self.segment_ms, to_ms // self.segment_ms
        for segment in sorted(segment for segment in self._segments if first <= segment <= last):
            yield from self._segments[segment]

    def mark(self) -> tuple[int, int, int]:
        """The current time here, for `put_back`."""
        return self.stream_time_ms, self.oldest_ms, self._dropped_below

    def put_back(self, mark: tuple[int, ...]) -> None:
        self.stream_time_ms, self.oldest_ms, self._dropped_below = mark

    def clear(self) -> None:
        self._dropped_below = -(2**63)
        self._segments.clear()
        self.stream_time_ms = -1
        self.oldest_ms = -(2**63)


class ExpiringStore(Store):
    """A store whose entries are removed when they are older than stream time by its retention."""

    def __init__(self, name: str, retention_ms: int) -> None:
        super().__init__(name)
        self._expiry = Expiry(retention_ms)

    def _mark(self) -> tuple[int, ...]:
        return self._expiry.mark()

    def _put_back(self, mark: tuple[int, ...]) -> None:
        self._expiry.put_back(mark)

    @property
    def stream_time_ms(self) -> int | None:
        return self._expiry.stream_time_ms

    def advance(self, stream_time_ms: int) -> None:
        self._expiry.observe(stream_time_ms)
