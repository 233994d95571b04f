"""The key-value store: one value and its timestamp per key, ranges in the order of the keys' bytes."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator

from moldau.pipeline.operators.stores.keys import split_timed, timed
from moldau.pipeline.operators.stores.store import Change, Item, Store

Timed = tuple[bytes, int]


class KeyValueStore(Store):
    def __init__(self, name: str, *, ordered: bool = False) -> None:
        """`ordered`: keys are always kept in order, for a store that is often read in order."""
        super().__init__(name)
        self._ordered = ordered
        self._values: dict[bytes, Timed] = {}
        self._sorted: list[bytes] | None = []
        self.get = self._values.get
        """(value, timestamp) of a key, or None. Bound once, because it is the most frequent call."""

    def put(self, key: bytes, value: bytes | None, timestamp_ms: int) -> None:
        """A value None removes the key."""
        values, before = self._values, self._before
        if key not in before:
            before[key] = values.get(key)
        if value is None:
            if values.pop(key, None) is not None and self._sorted is not None:
                self._forget(key)
            return
        if self._sorted is not None and key not in values:
            self._note(key)
        values[key] = (value, timestamp_ms)

    def range(self, low: bytes | None = None, high: bytes | None = None) -> Iterator[tuple[bytes, Timed]]:
        """Keys from `low` to `high`, inclusive; None: no bound. A snapshot of the keys at the time of the call."""
        keys = self._keys_in_order()
        first = 0 if low is None else bisect_left(keys, low)
        end = len(keys) if high is None else bisect_right(keys, high)
        yield from self._present(keys[first:end])

    def with_prefix(self, prefix: bytes) -> Iterator[tuple[bytes, Timed]]:
        keys = self._keys_in_order()
        first = bisect_left(keys, prefix)
        end = first
        while end < len(keys) and keys[end].startswith(prefix):
            end += 1
        yield from self._present(keys[first:end])

    def _present(self, keys: list[bytes]) -> Iterator[tuple[bytes, Timed]]:
        for key in keys:
            found = self._values.get(key)
            if found is not None:
                yield key, found

    def items(self) -> Iterator[Item]:
        for key, (value, timestamp_ms) in self._values.items():
            yield key, timed(value, timestamp_ms)

    def take_changes(self) -> list[Change]:
        get = self._values.get
        return [(key, timed(*found) if (found := get(key)) else None) for key in self._take_touched()]

    def _packed(self, place: bytes, held: Timed | None) -> Change:
        return place, timed(*held) if held else None

    def load(self, changes: Iterable[Change]) -> None:
        for key, value in changes:
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = split_timed(value)
        self._sorted = None

    def clear(self) -> None:
        self._values.clear()
        self._forget_changes()
        self._sorted = []

    def __len__(self) -> int:
        return len(self._values)

    def _note(self, key: bytes) -> None:
        if self._ordered and self._sorted is not None:
            insort(self._sorted, key)
        else:
            self._sorted = None

    def _forget(self, key: bytes) -> None:
        if self._ordered and self._sorted is not None:
            del self._sorted[bisect_left(self._sorted, key)]
        else:
            self._sorted = None

    def _keys_in_order(self) -> list[bytes]:
        if self._sorted is None:
            self._sorted = sorted(self._values)
        return self._sorted
