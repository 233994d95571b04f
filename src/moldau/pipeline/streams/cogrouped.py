"""CogroupedKStream: several grouped streams folded into one table, each by its own adder (KIP-150)."""

from collections.abc import Callable
from typing import Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.nodes import Aggregate, SessionAggregate, TableMerge, WindowAggregate
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import SessionWindows, Windows
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.serdes.windowed import SessionWindowedSerde, TimeWindowedSerde
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.grouped import KGroupedStream
from moldau.pipeline.streams.table import KTable
from moldau.pipeline.streams.windowed import session_store, window_store

Adder = Callable[[Any, Any, Any], Any]


class CogroupedKStream:
    def __init__(
        self, draft: Draft, members: list[tuple[KGroupedStream, Adder]], windows: Windows | None = None
    ) -> None:
        self._draft = draft
        self._members = members
        self._windows = windows

    def cogroup(self, grouped: KGroupedStream, adder: Adder) -> "CogroupedKStream":
        """One more stream; its keys must be of the same kind."""
        first = self._members[0][0]
        if grouped.key_serde != first.key_serde:
            raise ConfigError(
                f"{self._draft.here()}: streams grouped by {first.key_serde.name} and by {grouped.key_serde.name} keys "
                "cannot be folded into one table; give both the same key serde"
            )
        return CogroupedKStream(self._draft, [*self._members, (grouped, adder)], self._windows)

    def windowed_by(self, windows: Windows) -> "CogroupedKStream":
        return CogroupedKStream(self._draft, self._members, windows)

    def aggregate(
        self,
        initializer: Callable[[], Any],
        merger: Callable[[Any, Any, Any], Any] | None = None,
        *,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """`merger(key, one, other)` is needed for sessions, which may merge."""
        draft, windows = self._draft, self._windows
        where = draft.here()
        if isinstance(windows, SessionWindows) and merger is None:
            raise ConfigError(f"{where}: sessions may merge: give aggregate() a merger")
        spec = self._store(
            store or draft.name("COGROUPKSTREAM-AGGREGATE-STATE-STORE"), value or draft.value_serde
        )
        merged_name = draft.name("COGROUPKSTREAM-MERGE", name)
        parents: list[str] = []
        sources: tuple[str, ...] = ()
        for number, (grouped, adder) in enumerate(self._members):
            parent, topics = grouped.belonging(f"{spec.name}-{number}" if number else spec.name)
            sources = tuple(dict.fromkeys([*sources, *topics]))
            fields: dict[str, Any] = {
                "name": draft.name("COGROUPKSTREAM-AGGREGATE"),
                "parents": (parent,),
                "where": where,
                "initializer": initializer,
                "adder": adder,
                "store": spec,
            }
            parents.append(draft.add(self._node(fields, merger)).name)
        if len(sources) > 1:
            draft.copartitioned.append((sources, where))
        draft.add(TableMerge(name=merged_name, parents=tuple(parents), where=where, store=spec))
        assert spec.value_serde is not None
        return KTable(
            draft, merged_name, self._key_serde(), spec.value_serde, sources, grace_ms=self._grace_ms()
        )

    def _node(self, fields: dict[str, Any], merger: Any) -> Aggregate:
        match self._windows:
            case None:
                return Aggregate(**fields)
            case SessionWindows() as windows:
                return SessionAggregate(**fields, windows=windows, merger=merger)
            case windows:
                return WindowAggregate(**fields, windows=windows)

    def _store(self, name: str, value: Serde) -> StoreSpec:
        key, windows = self._members[0][0].key_serde, self._windows
        match windows:
            case None:
                return StoreSpec(name, StoreKind.KEY_VALUE, key, value)
            case SessionWindows():
                return session_store(name, key, value, windows)
            case _:
                return window_store(name, key, value, windows)

    def _key_serde(self) -> Serde:
        key, windows = self._members[0][0].key_serde, self._windows
        match windows:
            case None:
                return key
            case SessionWindows():
                return SessionWindowedSerde(key)
            case _:
                return TimeWindowedSerde(key, windows.size_ms)

    def _grace_ms(self) -> int | None:
        match self._windows:
            case None:
                return None
            case SessionWindows() as windows:
                return windows.grace_ms + windows.gap_ms
            case windows:
                return windows.grace_ms
