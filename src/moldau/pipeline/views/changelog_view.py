"""The present content of one store, as its committed changelog tells it. Readers and the feed share it under a lock."""

import threading
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.stores.keys import timed
from moldau.pipeline.operators.stores.views import (
    FAR_FUTURE_MS,
    FAR_PAST_MS,
    KeyValueView,
    SessionView,
    WindowView,
    view,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import Windowed

ENTRIES_MAX: Final = 10_000
"""Of one answer: a scan of everything is a consumer's work."""
Entry = tuple[Any, Any]


class ChangelogView:
    """Keys and values are those the user's serdes give; a windowed entry has a `Windowed` key."""

    def __init__(self, spec: StoreSpec) -> None:
        self.spec = spec
        self._store = TaskState([spec]).stores[spec.name]
        self._view = view(spec, self._store)
        self._lock = threading.Lock()

    def load(self, records: Iterable[tuple[bytes, bytes | None, int]]) -> None:
        """(key, value, timestamp) of changelog records, in their order."""
        if self.spec.kind is StoreKind.SESSION:
            changes = [(key, value) for key, value, _ in records]
        else:
            changes = [(key, None if value is None else timed(value, at_ms)) for key, value, at_ms in records]
        with self._lock:
            self._store.load(changes)

    def get(self, key: Any) -> Any:
        """The value of a key, None when there is none."""
        found = self._plain()
        with self._lock:
            return found.get(key)

    def range(self, low: Any = None, high: Any = None, *, limit: int = ENTRIES_MAX) -> list[Entry]:
        """Keys from low to high, both included, in the order of their bytes."""
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
