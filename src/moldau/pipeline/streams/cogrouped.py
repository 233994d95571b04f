"""CogroupedKStream: aggregates several grouped streams into one table, each with its own adder (KIP-150)."""

from collections.abc import Callable
from typing import Any, Generic

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.nodes import TableMerge
from moldau.pipeline.plan.windows import SessionWindows, Windows
from moldau.pipeline.serdes.kinds import V2, K, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.folding import Fold, check_fold, fold_node, fold_store, folded_table
from moldau.pipeline.streams.grouped import KGroupedStream
from moldau.pipeline.streams.table import KTable

Adder = Callable[[Any, Any, Any], Any]


class CogroupedKStream(Generic[K, V]):
    """V is the type of the aggregate. With windows, the keys of the table are `Windowed`."""

    def __init__(
        self,
        draft: Draft,
        members: list[tuple[KGroupedStream[K, Any], Adder]],
        windows: Windows | None = None,
    ) -> None:
        self._draft = draft
        self._members = members
        self._windows = windows

    def cogroup(
        self, grouped: KGroupedStream[K, V2], adder: Callable[[K, V2, V], V]
    ) -> "CogroupedKStream[K, V]":
        """Adds a stream. Its keys must be of the same kind."""
        where = self._draft.here()
        self._draft.check_builder(grouped, where)
        first = self._members[0][0]
        if grouped.key_serde != first.key_serde:
            raise ConfigError(
                f"{where}: streams grouped by {first.key_serde.name} and by {grouped.key_serde.name} keys "
                "cannot be aggregated into one table; give both the same key serde"
            )
        return CogroupedKStream(self._draft, [*self._members, (grouped, adder)], self._windows)

    def windowed_by(self, windows: Windows) -> "CogroupedKStream[Any, V]":
        return CogroupedKStream(self._draft, self._members, windows)

    def aggregate(
        self,
        initializer: Callable[[], V],
        merger: Callable[[Any, V, V], V] | None = None,
        *,
        value: Serde[V] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """`merger(key, one, other)` is required for sessions, which may merge."""
        draft, windows, first = self._draft, self._windows, self._members[0][0]
        where = draft.here()
        if isinstance(windows, SessionWindows) and merger is None:
            raise ConfigError(f"{where}: sessions may merge: give aggregate() a merger")
        serde = value or draft.value_serde
        spec = fold_store(
            draft.name("COGROUPKSTREAM-AGGREGATE-STATE-STORE", store),
            first.key_serde,
            serde,
            windows,
            where,
            queryable=store is not None,
        )
        merged_name = draft.name("COGROUPKSTREAM-MERGE", name)
        parents: list[str] = []
        sources: tuple[str, ...] = ()
        for number, (grouped, adder) in enumerate(self._members):
            parent, topics = grouped.belonging(f"{spec.name}-{number}" if number else spec.name)
            sources = tuple(dict.fromkeys([*sources, *topics]))
            fold = Fold(initializer, adder, serde, merger)
            check_fold(fold, where)
            node_name = draft.name("COGROUPKSTREAM-AGGREGATE")
            fields = {"name": node_name, "parents": (parent,), "where": where, "store": spec}
            parents.append(draft.add(fold_node(fields, fold, windows)).name)
        if len(sources) > 1:
            draft.copartitioned.append((sources, where))
        draft.add(TableMerge(name=merged_name, parents=tuple(parents), where=where, store=spec))
        return folded_table(first, merged_name, serde, windows, sources)
