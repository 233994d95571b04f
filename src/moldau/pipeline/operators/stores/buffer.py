"""The buffer of suppress: one change per key, released in the order of time.

A later change of the same key replaces the entry and keeps its position, as in Kafka's buffer. The value before the
first change stays the old value that will be emitted.
"""

import heapq
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moldau.pipeline.operators.records import Headers
from moldau.pipeline.operators.stores.store import Change, Item, Store
from moldau.pipeline.serdes.framing import pack_frames, unpack_frames

_PLACE = struct.Struct(">qq")
OVERHEAD_BYTES = 8


class Held(NamedTuple):
    """Ordered by `buffer_time_ms`, then the key. The rest is the change itself."""

    buffer_time_ms: int
    key: bytes
    new: bytes | None
    old: bytes | None
    prior: bytes | None
    """The value that was last emitted downstream for this key."""
    timestamp_ms: int
    headers: Headers


class BufferStore(Store):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._held: dict[bytes, Held] = {}
        self._order: list[tuple[int, bytes]] = []
        self.bytes_held = 0

    def hold(
        self,
        key: bytes,
        buffer_time_ms: int,
        new: bytes | None,
        old: bytes | None,
        timestamp_ms: int,
        headers: Headers,
    ) -> None:
        """Adds a change. It takes the position of an earlier one of the same key."""
        before = self._held.get(key)
        self._before.setdefault(key, before)
        if before is None:
            held = Held(buffer_time_ms, key, new, old, old, timestamp_ms, headers)
            heapq.heappush(self._order, (buffer_time_ms, key))
        else:
            self.bytes_held -= _size(before)
            held = Held(before.buffer_time_ms, key, new, old, before.prior, timestamp_ms, headers)
        self._held[key] = held
        self.bytes_held += _size(held)

    def oldest(self) -> Held | None:
        return self._held[self._order[0][1]] if self._order else None

    def release(self) -> Held:
        """Removes and returns the oldest."""
        _, key = heapq.heappop(self._order)
        held = self._held.pop(key)
        self._before.setdefault(key, held)
        self.bytes_held -= _size(held)
        return held

    def get(self, key: bytes) -> Held | None:
        return self._held.get(key)

    def items(self) -> Iterator[Item]:
        for key, held in self._held.items():
            yield key, _packed(held)

    def take_changes(self) -> list[Change]:
        get = self._held.get
        return [(key, _packed(held) if (held := get(key)) else None) for key in self._take_touched()]

    def _packed(self, place: bytes, held: Held | None) -> Change:
        return place, _packed(held) if held else None

    def load(self, changes: Iterable[Change]) -> None:
        for key, value in changes:
            self._held.pop(key, None)
            if value is not None:
                self._held[key] = _unpacked(key, value)
        self._order = [(held.buffer_time_ms, key) for key, held in self._held.items()]
        heapq.heapify(self._order)
        self.bytes_held = sum(map(_size, self._held.values()))

    def clear(self) -> None:
        self._held.clear()
        self._order.clear()
        self._forget_changes()
        self.bytes_held = 0

    def __len__(self) -> int:
        return len(self._held)


def _size(held: Held) -> int:
    values = sum(len(value) for value in (held.new, held.old, held.prior) if value is not None)
    headers = sum(len(name) + len(value or b"") for name, value in held.headers)
    return OVERHEAD_BYTES + len(held.key) + values + headers + _PLACE.size


def _packed(held: Held) -> bytes:
    place = _PLACE.pack(held.buffer_time_ms, held.timestamp_ms)
    headers = [part for name, value in held.headers for part in (name.encode(), value)]
    return pack_frames([place, held.new, held.old, held.prior, *headers])


def _unpacked(key: bytes, data: bytes) -> Held:
    place, new, old, prior, *headers = unpack_frames(data)
    buffer_time_ms, timestamp_ms = _PLACE.unpack(place or b"")
    pairs = zip(headers[::2], headers[1::2], strict=True)
    return Held(
        buffer_time_ms,
        key,
        new,
        old,
        prior,
        timestamp_ms,
        tuple(((n or b"").decode(), v) for n, v in pairs),
    )
