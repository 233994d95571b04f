"""Rows as bytes by key, in the stores that pipelines have: plain, by window, by session. Pure."""

from collections.abc import Iterator
from typing import Any, Final, Protocol

from moldau.pipeline.operators.stores.key_value import KeyValueStore
from moldau.pipeline.operators.stores.session import SessionStore
from moldau.pipeline.operators.stores.window import WindowStore
from moldau.pipeline.sql.definitions import KeyWindow

FOREVER_MS: Final = 2**62
FAR_PAST_MS: Final = -(2**62)
FAR_FUTURE_MS: Final = 2**62

StoredRow = tuple[bytes, int, int, bytes, int]
"""Key, start and end of the window (0 without one), value, time."""


class TableRows(Protocol):
    def put(self, key: bytes, window: Any, value: bytes | None, timestamp_ms: int) -> None:
        """`window` is the whole decoded key of a windowed table. A value None removes the row."""

    def of(self, key: bytes) -> Iterator[StoredRow]: ...

    def all(self) -> Iterator[StoredRow]: ...

    def __len__(self) -> int: ...


def rows_for(window: KeyWindow | None, retention_ms: int | None) -> TableRows:
    retention = FOREVER_MS if retention_ms is None else retention_ms
    if window is None:
        return PlainRows()
    return SessionRows(retention) if window.kind == "SESSION" else WindowRows(retention, window.size_ms)


class PlainRows:
    def __init__(self) -> None:
        self._store = KeyValueStore("rows")

    def put(self, key: bytes, window: Any, value: bytes | None, timestamp_ms: int) -> None:
        self._store.put(key, value, timestamp_ms)
        self._store.take_changes()

    def of(self, key: bytes) -> Iterator[StoredRow]:
        found = self._store.get(key)
        if found is not None:
            yield key, 0, 0, *found

    def all(self) -> Iterator[StoredRow]:
        for key, found in self._store.range():
            yield key, 0, 0, *found

    def __len__(self) -> int:
        return len(self._store)


class WindowRows:
    def __init__(self, retention_ms: int, size_ms: int) -> None:
        self._store = WindowStore("rows", retention_ms)
        self._size_ms = size_ms

    def put(self, key: bytes, window: Any, value: bytes | None, timestamp_ms: int) -> None:
        self._store.put(key, value, window[1], timestamp_ms)
        self._store.take_changes()

    def of(self, key: bytes) -> Iterator[StoredRow]:
        for start_ms, found in self._store.fetch(key, FAR_PAST_MS, FAR_FUTURE_MS):
            yield key, start_ms, start_ms + self._size_ms, *found

    def all(self) -> Iterator[StoredRow]:
        for key, start_ms, found in self._store.all():
            yield key, start_ms, start_ms + self._size_ms, *found

    def __len__(self) -> int:
        return len(self._store)


class SessionRows:
    """The time of a session's row is the session's end."""

    def __init__(self, retention_ms: int) -> None:
        self._store = SessionStore("rows", retention_ms)

    def put(self, key: bytes, window: Any, value: bytes | None, timestamp_ms: int) -> None:
        self._store.put(key, window[1], window[2], value)
        self._store.take_changes()

    def of(self, key: bytes) -> Iterator[StoredRow]:
        for (start_ms, end_ms), value in self._store.find(key, FAR_PAST_MS, FAR_FUTURE_MS):
            yield key, start_ms, end_ms, value, end_ms

    def all(self) -> Iterator[StoredRow]:
        for key, (start_ms, end_ms), value in self._store.all():
            yield key, start_ms, end_ms, value, end_ms

    def __len__(self) -> int:
        return len(self._store)
