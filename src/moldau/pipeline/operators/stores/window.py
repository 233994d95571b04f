"""The window store: a value and its timestamp per key and window start."""

from collections.abc import Iterable, Iterator

from moldau.pipeline.operators.stores.expiry import ExpiringStore
from moldau.pipeline.operators.stores.keys import split_timed, split_window_key, timed, window_key
from moldau.pipeline.operators.stores.store import Change, Item

Timed = tuple[bytes, int]


class WindowStore(ExpiringStore):
    def __init__(self, name: str, retention_ms: int) -> None:
        super().__init__(name, retention_ms)
        self._windows: dict[bytes, dict[int, Timed]] = {}

    def get(self, key: bytes, start_ms: int) -> Timed | None:
        if start_ms < self._expiry.oldest_ms:
            return None
        windows = self._windows.get(key)
        return None if windows is None else windows.get(start_ms)

    def put(self, key: bytes, value: bytes | None, start_ms: int, timestamp_ms: int) -> bool:
        """A value None removes the window. Returns False for a window past the retention, which is not stored."""
        if self._expiry.observe(start_ms):
            self._drop_expired()
        elif start_ms < self._expiry.oldest_ms:
            return False
        entry = (key, start_ms)
        windows = self._windows.get(key)
        if entry not in self._before:
            self._before[entry] = windows.get(start_ms) if windows else None
        if value is None:
            self._remove(key, start_ms)
            self._expiry.discard(start_ms, entry)
            return True
        if windows is None:
            windows = self._windows[key] = {}
        if start_ms not in windows:
            self._expiry.add(start_ms, entry)
        windows[start_ms] = (value, timestamp_ms)
        return True

    def fetch(self, key: bytes, from_ms: int, to_ms: int) -> list[tuple[int, Timed]]:
        """Windows of a key that start in [from, to], oldest first."""
        windows = self._windows.get(key)
        if not windows:
            return []
        from_ms = max(from_ms, self._expiry.oldest_ms)
        starts = sorted(start for start in windows if from_ms <= start <= to_ms)
        return [(start, windows[start]) for start in starts]

    def all(self, from_ms: int = -(2**63), to_ms: int = 2**63) -> Iterator[tuple[bytes, int, Timed]]:
        """(key, start, value) of windows that start in [from, to], in the order of keys, then of starts."""
        for key in sorted(self._windows):
            for start_ms, found in self.fetch(key, from_ms, to_ms):
                yield key, start_ms, found

    def starting_in(self, from_ms: int, to_ms: int) -> list[tuple[int, bytes, Timed]]:
        """(start, key, value) of windows that start in [from, to], in the order of starts, then of keys."""
        from_ms = max(from_ms, self._expiry.oldest_ms)
        entries = sorted(
            (start_ms, key)
            for key, start_ms in self._expiry.between(from_ms, to_ms)
            if from_ms <= start_ms <= to_ms
        )
        return [(start_ms, key, self._windows[key][start_ms]) for start_ms, key in entries]

    def items(self) -> Iterator[Item]:
        for key, windows in self._windows.items():
            for start_ms, (value, timestamp_ms) in windows.items():
                yield window_key(key, start_ms), timed(value, timestamp_ms)

    def take_changes(self) -> list[Change]:
        return [
            (window_key(key, start_ms), self._stored(key, start_ms)) for key, start_ms in self._take_touched()
        ]

    def _packed(self, place: tuple[bytes, int], held: Timed | None) -> Change:
        return window_key(*place), timed(*held) if held else None

    def load(self, changes: Iterable[Change]) -> None:
        for data, value in changes:
            key, start_ms, _ = split_window_key(data)
            if value is None:
                self._remove(key, start_ms)
                self._expiry.discard(start_ms, (key, start_ms))
            else:
                self._windows.setdefault(key, {})[start_ms] = split_timed(value)
                self._expiry.add(start_ms, (key, start_ms))
                self._expiry.observe(start_ms)

    def clear(self) -> None:
        self._windows.clear()
        self._forget_changes()
        self._expiry.clear()

    def __len__(self) -> int:
        return sum(map(len, self._windows.values()))

    def _stored(self, key: bytes, start_ms: int) -> bytes | None:
        found = self._windows.get(key, {}).get(start_ms)
        return timed(*found) if found else None

    def _remove(self, key: bytes, start_ms: int) -> None:
        windows = self._windows.get(key)
        if windows is not None:
            windows.pop(start_ms, None)
            if not windows:
                del self._windows[key]

    def _drop_expired(self) -> None:
        for entry in self._expiry.expired():
            key, start_ms = entry
            self._before.setdefault(entry, self._windows.get(key, {}).get(start_ms))
            self._remove(key, start_ms)
