"""The state of one task: its stores, and the stream times of its operators.

A host can keep versions of it: `take_changes()` after each batch, `items()` for a snapshot, `load()` into a new or
cleared state. Within a batch it can be rolled back to a savepoint, so that a failure leaves nothing behind. A delta is
(store name, key, value or None). The stream times are the entries of one more store, TIMES.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping

from moldau.pipeline.operators.stores.buffer import BufferStore
from moldau.pipeline.operators.stores.join import JoinStore
from moldau.pipeline.operators.stores.key_value import KeyValueStore
from moldau.pipeline.operators.stores.session import SessionStore
from moldau.pipeline.operators.stores.store import Store
from moldau.pipeline.operators.stores.versioned import VersionedStore
from moldau.pipeline.operators.stores.window import WindowStore
from moldau.pipeline.plan.stores import StoreKind, StoreSpec

TIMES = "task-times"
OF_STORE = "store "
_TIME = struct.Struct(">q")

Delta = tuple[str, bytes, bytes | None]

_MAKERS: Mapping[StoreKind, Callable[[StoreSpec], Store]] = {
    StoreKind.KEY_VALUE: lambda spec: KeyValueStore(spec.name),
    StoreKind.VERSIONED: lambda spec: VersionedStore(spec.name, spec.retention_ms),
    StoreKind.ORDERED: lambda spec: KeyValueStore(spec.name, ordered=True),
    StoreKind.WINDOW: lambda spec: WindowStore(spec.name, spec.retention_ms),
    StoreKind.SESSION: lambda spec: SessionStore(spec.name, spec.retention_ms),
    StoreKind.JOIN: lambda spec: JoinStore(spec.name, spec.retention_ms),
    StoreKind.BUFFER: lambda spec: BufferStore(spec.name),
}


class TaskState:
    def __init__(self, specs: Iterable[StoreSpec], global_specs: Iterable[StoreSpec] = ()) -> None:
        self.stores: dict[str, Store] = {spec.name: _MAKERS[spec.kind](spec) for spec in specs}
        self.global_stores: dict[str, Store] = {spec.name: _MAKERS[spec.kind](spec) for spec in global_specs}
        """Filled by `Task.apply_global`. Not part of the changes, because every host reads the whole topic."""
        self.times: dict[str, int] = {}
        self._times_told: dict[str, int] = {}
        self._times_before: list[dict[str, int]] = []

    def take_changes(self) -> list[Delta]:
        """Everything that has changed since the last call."""
        deltas = [
            (name, key, value) for name, store in self.stores.items() for key, value in store.take_changes()
        ]
        times = self._all_times()
        for name, time_ms in times.items():
            if self._times_told.get(name) != time_ms:
                deltas.append((TIMES, name.encode(), _TIME.pack(time_ms)))
        self._times_told = times
        return deltas

    def savepoint(self) -> None:
        """Sets a savepoint. `keep` keeps the changes since, `rollback` undoes them. Savepoints nest."""
        self._times_before.append(self.times.copy())
        for store in self.stores.values():
            store.savepoint()

    def keep(self) -> None:
        self._times_before.pop()
        for store in self.stores.values():
            store.keep()

    def rollback(self) -> None:
        times = self._times_before.pop()
        self.times.clear()
        self.times.update(times)
        for store in self.stores.values():
            store.rollback()

    def items(self) -> Iterator[tuple[str, bytes, bytes]]:
        """The whole state, for a snapshot."""
        for name, store in self.stores.items():
            for key, value in store.items():
                yield name, key, value
        for name, time_ms in self._all_times().items():
            yield TIMES, name.encode(), _TIME.pack(time_ms)

    def load(self, deltas: Iterable[Delta]) -> None:
        """Applies a snapshot or changes, in the order in which they were taken."""
        by_store: dict[str, list[tuple[bytes, bytes | None]]] = {}
        for name, key, value in deltas:
            by_store.setdefault(name, []).append((key, value))
        times = by_store.pop(TIMES, [])
        for name, changes in by_store.items():
            self.stores[name].load(changes)
        for key, value in times:
            if value is not None:
                self._take_time(key.decode(), _TIME.unpack(value)[0])
        self._times_told = self._all_times()

    def _all_times(self) -> dict[str, int]:
        """The times of the operators and of the stores."""
        of_stores = {f"{OF_STORE}{name}": store.stream_time_ms for name, store in self.stores.items()}
        return {**self.times, **{name: time_ms for name, time_ms in of_stores.items() if time_ms is not None}}

    def _take_time(self, name: str, time_ms: int) -> None:
        if name.startswith(OF_STORE):
            self.stores[name.removeprefix(OF_STORE)].advance(time_ms)
        else:
            self.times[name] = time_ms

    def clear(self) -> None:
        """Empties the state, except global stores."""
        for store in self.stores.values():
            store.clear()
        self.times.clear()
        self._times_told = {}
        self._times_before.clear()

    def key_value(self, name: str) -> KeyValueStore:
        store = self.stores[name] if name in self.stores else self.global_stores[name]
        assert isinstance(store, KeyValueStore)
        return store

    def versioned(self, name: str) -> VersionedStore:
        store = self.stores[name]
        assert isinstance(store, VersionedStore)
        return store

    def window(self, name: str) -> WindowStore:
        store = self.stores[name]
        assert isinstance(store, WindowStore)
        return store

    def session(self, name: str) -> SessionStore:
        store = self.stores[name]
        assert isinstance(store, SessionStore)
        return store

    def join(self, name: str) -> JoinStore:
        store = self.stores[name]
        assert isinstance(store, JoinStore)
        return store

    def buffer(self, name: str) -> BufferStore:
        store = self.stores[name]
        assert isinstance(store, BufferStore)
        return store
