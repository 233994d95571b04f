"""The store of one side of a stream-stream join: every record of a key by its timestamp, also records of equal ones."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator

from moldau.pipeline.operators.stores.expiry import ExpiringStore
from moldau.pipeline.operators.stores.keys import split_window_key, window_key
from moldau.pipeline.operators.stores.store import Change, Item

Place = tuple[int, int]
"""Timestamp and number. The number distinguishes records of the same timestamp, in the order of arrival."""

SEQUENCE_MAX = 0x7FFFFFFF


class JoinStore(ExpiringStore):
    def __init__(self, name: str, retention_ms: int) -> None:
        super().__init__(name, retention_ms)
        self._places: dict[bytes, list[Place]] = {}
        self._values: dict[tuple[bytes, int, int], bytes] = {}
        self._sequence = 0

    def put(self, key: bytes, value: bytes, timestamp_ms: int) -> bool:
        """Returns False for a record past the retention, which is not stored."""
        if self._expiry.observe(timestamp_ms):
            self._drop_expired()
        elif timestamp_ms < self._expiry.oldest_ms:
            return False
        self._sequence = (self._sequence + 1) & SEQUENCE_MAX
        entry = (key, timestamp_ms, self._sequence)
        self._before[entry] = None
        self._add(entry, value)
        return True

    def fetch(self, key: bytes, from_ms: int, to_ms: int) -> list[tuple[int, bytes]]:
        """(timestamp, value) of a key's records in [from, to], oldest first."""
        places = self._places.get(key)
        if not places:
            return []
        from_ms = max(from_ms, self._expiry.oldest_ms)
        first = bisect_left(places, (from_ms, -1))
        end = bisect_right(places, (to_ms, SEQUENCE_MAX + 1))
        return [(place[0], self._values[key, *place]) for place in places[first:end]]

    def items(self) -> Iterator[Item]:
        for entry, value in self._values.items():
            yield window_key(*entry), value

    def take_changes(self) -> list[Change]:
        return [(window_key(*entry), self._values.get(entry)) for entry in self._take_touched()]

    def _packed(self, place: tuple[bytes, int, int], held: bytes | None) -> Change:
        return window_key(*place), held

    def _mark(self) -> tuple[int, ...]:
        return (self._sequence, *super()._mark())

    def _put_back(self, mark: tuple[int, ...]) -> None:
        self._sequence = mark[0]
        super()._put_back(mark[1:])

    def load(self, changes: Iterable[Change]) -> None:
        for data, value in changes:
            entry = split_window_key(data)
            if value is None:
                self._remove(entry)
                self._expiry.discard(entry[1], entry)
            else:
                self._remove(entry)
                self._add(entry, value)
                self._expiry.observe(entry[1])
                self._sequence = max(self._sequence, entry[2])

    def clear(self) -> None:
        self._places.clear()
        self._values.clear()
        self._forget_changes()
        self._expiry.clear()
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._values)

    def _add(self, entry: tuple[bytes, int, int], value: bytes) -> None:
        key, timestamp_ms, sequence = entry
        places = self._places.get(key)
        if places is None:
            places = self._places[key] = []
        insort(places, (timestamp_ms, sequence))
        self._values[entry] = value
        self._expiry.add(timestamp_ms, entry)

    def _remove(self, entry: tuple[bytes, int, int]) -> None:
        if self._values.pop(entry, None) is None:
            return
        key = entry[0]
        places = self._places[key]
        places.remove((entry[1], entry[2]))
        if not places:
            del self._places[key]

    def _drop_expired(self) -> None:
        for entry in self._expiry.expired():
            if entry not in self._before:
                self._before[entry] = self._values.get(entry)
            self._remove(entry)
