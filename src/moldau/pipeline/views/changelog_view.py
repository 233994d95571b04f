"""The current content of one store, from its committed changelog. Readers and the writer share it under a lock."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.stores.keys import timed
from moldau.pipeline.operators.stores.store import Change
from moldau.pipeline.operators.stores.versioned import VersionedStore, version
from moldau.pipeline.operators.stores.views import (
    FAR_FUTURE_MS,
    FAR_PAST_MS,
    KeyValueView,
    SessionView,
    VersionedView,
    WindowView,
    view,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import Windowed

ENTRIES_MAX: Final = 10_000
"""Per response. To scan everything, use a consumer."""
FOREVER_MS: Final = 2**62
Entry = tuple[Any, Any]


class ChangelogView:
    """Keys and values are decoded by the user's serdes. A windowed entry has a `Windowed` key."""

    def __init__(self, spec: StoreSpec) -> None:
        self.spec = spec
        # The application writes which entries have expired, per task: the time of one task says nothing about another.
        self._store = TaskState([replace(spec, retention_ms=FOREVER_MS)]).stores[spec.name]
        self._view = view(spec, self._store)
        self._lock = threading.Lock()

    def load(self, records: Sequence[tuple[bytes, bytes | None, int]]) -> None:
        """(key, value, timestamp) of changelog records, in their order."""
        changes: list[Change]
        match self.spec.kind:
            case StoreKind.SESSION:
                changes = [(key, value) for key, value, _ in records]
            case StoreKind.VERSIONED:
                changes = [version(*record) for record in records]
            case _:
                changes = [
                    (key, None if value is None else timed(value, at_ms)) for key, value, at_ms in records
                ]
        with self._lock:
            self._store.load(changes)
            if isinstance(self._store, VersionedStore):
                for key in {key for key, _, _ in records}:
                    self._store.trim(key, self.spec.retention_ms)

    def get(self, key: Any, as_of_ms: int | None = None) -> Any:
        """The value of a key, None if there is none. A store that keeps its history also has the value at a time."""
        found = self._plain()
        with self._lock:
            if as_of_ms is None:
                return found.get(key)
            if isinstance(found, VersionedView):
                return found.get(key, as_of_ms)
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"the store {self.spec.name} keeps no history: only its current values can be read",
        )

    def range(self, low: Any = None, high: Any = None, *, limit: int = ENTRIES_MAX) -> list[Entry]:
        """Keys from low to high, inclusive, in the order of their bytes."""
        found = self._plain()
        with self._lock:
            return list(islice(found.range(low, high), limit))

    def all(self, *, limit: int = ENTRIES_MAX) -> list[Entry]:
        found = self._view
        assert isinstance(found, KeyValueView | WindowView | SessionView)
        with self._lock:
            return list(islice(found.all(), limit))

    def fetch(self, key: Any, from_ms: int = FAR_PAST_MS, to_ms: int = FAR_FUTURE_MS) -> list[Entry]:
        """Windows of a key that start in [from, to], or its sessions, oldest first."""
        found = self._view
        with self._lock:
            if isinstance(found, WindowView):
                size_ms = self.spec.window_size_ms
                windows = found.fetch(key, from_ms, to_ms)
                return [(Windowed(key, start_ms, start_ms + size_ms), value) for start_ms, value in windows]
            if isinstance(found, SessionView):
                sessions = found.fetch(key)
                return [one for one in sessions if one[0].end_ms >= from_ms and one[0].start_ms <= to_ms]
        raise ApiError(ErrorCode.INVALID_REQUEST, f"the store {self.spec.name} has no windows: ask by key")

    def __len__(self) -> int:
        with self._lock:
            return len(self._store)

    def _plain(self) -> KeyValueView:
        if not isinstance(self._view, KeyValueView):
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"the store {self.spec.name} is windowed: fetch a key's windows instead",
            )
        return self._view
