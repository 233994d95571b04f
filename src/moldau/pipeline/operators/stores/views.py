"""Stores as users see them, with keys and values instead of bytes: for processors, the test driver and queries."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.stores.key_value import KeyValueStore
from moldau.pipeline.operators.stores.session import SessionStore
from moldau.pipeline.operators.stores.store import Store
from moldau.pipeline.operators.stores.versioned import Placed, VersionedStore
from moldau.pipeline.operators.stores.window import WindowStore
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.plan.windows import Windowed

if TYPE_CHECKING:
    from moldau.pipeline.operators.wiring import Wiring

FAR_PAST_MS = -(2**62)
FAR_FUTURE_MS = 2**62


def _nobody_counts(late_ms: int) -> None:
    """For views outside of a task."""


class StoreView:
    """The serdes, which all views have."""

    def __init__(self, spec: StoreSpec) -> None:
        if spec.key_serde is None or spec.value_serde is None:
            raise ConfigError(f"store {spec.name!r} has no serdes: name them where the store is made")
        self.name = spec.name
        self._on_expired: Callable[[int], None] = _nobody_counts
        self._encode_key = spec.key_serde.encoder(spec.name, is_key=True)
        self._decode_key = spec.key_serde.decoder(spec.name, is_key=True)
        self._encode_value = spec.value_serde.encoder(spec.name, is_key=False)
        self._decode_value = spec.value_serde.decoder(spec.name, is_key=False)

    def count_expired(self, count: Callable[[int], None]) -> None:
        """`count(lateness)` is called for an entry that is too late for the store."""
        self._on_expired = count

    def _key(self, key: Any) -> bytes:
        if key is None:
            raise ValueError(f"store {self.name!r} takes no null key")
        return self._encode_key(key) or b""


class KeyValueView(StoreView):
    def __init__(self, spec: StoreSpec, store: KeyValueStore) -> None:
        super().__init__(spec)
        self._store = store

    def get(self, key: Any) -> Any:
        found = self._store.get(self._key(key))
        return None if found is None else self._decode_value(found[0])

    def get_with_timestamp(self, key: Any) -> tuple[Any, int] | None:
        found = self._store.get(self._key(key))
        return None if found is None else (self._decode_value(found[0]), found[1])

    def put(self, key: Any, value: Any, timestamp_ms: int = -1) -> None:
        """None removes the key."""
        self._store.put(self._key(key), self._encode_value(value), timestamp_ms)

    def put_if_absent(self, key: Any, value: Any, timestamp_ms: int = -1) -> Any:
        """Puts the value only if the key has none. Returns the existing value, if there is one."""
        found = self.get(key)
        if found is None:
            self.put(key, value, timestamp_ms)
        return found

    def delete(self, key: Any) -> Any:
        """Removes the key and returns its value."""
        found = self.get(key)
        self.put(key, None)
        return found

    def range(self, low: Any = None, high: Any = None) -> Iterator[tuple[Any, Any]]:
        """Keys from low to high, inclusive, in the order of their bytes. None: no bound."""
        bounds = (None if bound is None else self._key(bound) for bound in (low, high))
        for key, (value, _) in self._store.range(*bounds):
            yield self._decode_key(key), self._decode_value(value)

    def all(self) -> Iterator[tuple[Any, Any]]:
        return self.range()

    def __len__(self) -> int:
        return len(self._store)


class GlobalView(KeyValueView):
    """The store of a global table for processors. Read-only: its content comes from its topic."""

    def put(self, key: Any, value: Any, timestamp_ms: int = -1) -> None:
        raise ConfigError(
            f"store {self.name!r} belongs to a global table and can only be read: write to its topic instead"
        )


class VersionedView(KeyValueView):
    """Without a time, methods use the current value."""

    def __init__(self, spec: StoreSpec, store: VersionedStore) -> None:
        super().__init__(spec, store)
        self._versions = store

    def put(self, key: Any, value: Any, timestamp_ms: int = -1) -> None:
        """None removes the key from that time on. A version older than the history is not stored, and counted."""
        placed = self._versions.put_version(self._key(key), self._encode_value(value), timestamp_ms)
        if placed is Placed.NOWHERE:
            self._on_expired((self._versions.stream_time_ms or 0) - timestamp_ms)

    def get(self, key: Any, as_of_ms: int | None = None) -> Any:
        found = self.get_with_timestamp(key, as_of_ms)
        return None if found is None else found[0]

    def get_with_timestamp(self, key: Any, as_of_ms: int | None = None) -> tuple[Any, int] | None:
        """The value at a time, and since when it was valid."""
        if as_of_ms is None:
            return super().get_with_timestamp(key)
        found = self._versions.get_as_of(self._key(key), as_of_ms)
        return None if found is None else (self._decode_value(found[0]), found[1])

    def history(self, key: Any) -> list[tuple[int, Any]]:
        """(since when, value) of all versions of a key, oldest first. A value None: removed."""
        return [
            (since_ms, self._decode_value(value))
            for since_ms, value in self._versions.versions(self._key(key))
        ]


class WindowView(StoreView):
    def __init__(self, spec: StoreSpec, store: WindowStore) -> None:
        super().__init__(spec)
        self._store = store
        self._size_ms = spec.window_size_ms

    def get(self, key: Any, start_ms: int) -> Any:
        """The value of one window by its start."""
        found = self._store.get(self._key(key), start_ms)
        return None if found is None else self._decode_value(found[0])

    def put(self, key: Any, value: Any, start_ms: int) -> None:
        """A window past the retention is not stored, and counted as expired."""
        if not self._store.put(self._key(key), self._encode_value(value), start_ms, start_ms):
            self._on_expired((self._store.stream_time_ms or 0) - start_ms)

    def fetch(
        self, key: Any, from_ms: int = FAR_PAST_MS, to_ms: int = FAR_FUTURE_MS
    ) -> list[tuple[int, Any]]:
        """(start, value) of a key's windows that start in [from, to], oldest first."""
        found = self._store.fetch(self._key(key), from_ms, to_ms)
        return [(start_ms, self._decode_value(value)) for start_ms, (value, _) in found]

    def all(self, from_ms: int = FAR_PAST_MS, to_ms: int = FAR_FUTURE_MS) -> Iterator[tuple[Windowed, Any]]:
        for key, start_ms, (value, _) in self._store.all(from_ms, to_ms):
            yield (
                Windowed(self._decode_key(key), start_ms, start_ms + self._size_ms),
                self._decode_value(value),
            )

    def __len__(self) -> int:
        return len(self._store)


class SessionView(StoreView):
    def __init__(self, spec: StoreSpec, store: SessionStore) -> None:
        super().__init__(spec)
        self._store = store

    def get(self, windowed: Windowed) -> Any:
        """The value of one session."""
        found = self._store.get(self._key(windowed.key), windowed.start_ms, windowed.end_ms)
        return None if found is None else self._decode_value(found)

    def put(self, windowed: Windowed, value: Any) -> None:
        """None removes the session. A session past the retention is not stored, and counted as expired."""
        key, start_ms, end_ms = self._key(windowed.key), windowed.start_ms, windowed.end_ms
        if not self._store.put(key, start_ms, end_ms, self._encode_value(value)):
            self._on_expired((self._store.stream_time_ms or 0) - end_ms)

    def remove(self, windowed: Windowed) -> None:
        self.put(windowed, None)

    def fetch(self, key: Any) -> list[tuple[Windowed, Any]]:
        """A key's sessions, oldest first."""
        return self.find(key, FAR_PAST_MS, FAR_FUTURE_MS)

    def find(self, key: Any, earliest_end_ms: int, latest_start_ms: int) -> list[tuple[Windowed, Any]]:
        """A key's sessions that overlap [from, to], oldest first."""
        found = self._store.find(self._key(key), earliest_end_ms, latest_start_ms)
        return [(Windowed(key, start, end), self._decode_value(value)) for (start, end), value in found]

    def all(self) -> Iterator[tuple[Windowed, Any]]:
        for key, (start_ms, end_ms), value in self._store.all():
            yield Windowed(self._decode_key(key), start_ms, end_ms), self._decode_value(value)

    def __len__(self) -> int:
        return len(self._store)


def view(spec: StoreSpec, store: Store) -> StoreView:
    match store:
        case VersionedStore():
            return VersionedView(spec, store)
        case KeyValueStore():
            return KeyValueView(spec, store)
        case WindowStore():
            return WindowView(spec, store)
        case SessionStore():
            return SessionView(spec, store)
    raise ConfigError(f"store {spec.name!r} ({spec.kind}) is internal to its operator and cannot be read")


def view_of(spec: StoreSpec, wiring: "Wiring") -> StoreView:
    state = wiring.state
    if spec.name in state.stores:
        return view(spec, state.stores[spec.name])
    return GlobalView(spec, state.key_value(spec.name))
