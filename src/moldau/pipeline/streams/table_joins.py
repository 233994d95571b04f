"""The joins of a table: with a table of the same keys, or of those its rows name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import JoinKind, TableJoin
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.kinds import K2, V2, K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.foreign_key import join_on_foreign_key
from moldau.pipeline.streams.handle import Handle

if TYPE_CHECKING:
    from moldau.pipeline.streams.table import KTable


class TableJoins(Handle[K, V]):
    """`grace_ms` is that of its windows, None for a table without windows."""

    def __init__(
        self,
        draft: Draft,
        node: str,
        key_serde: Serde[K],
        value_serde: Serde[V] | None,
        sources: tuple[str, ...],
        *,
        value_sure: bool = True,
        grace_ms: int | None = None,
    ) -> None:
        super().__init__(draft, node, key_serde, value_serde, sources, value_sure=value_sure)
        self._grace_ms = grace_ms

    def join(
        self,
        other: "KTable[K2, V2]",
        joiner: Callable[[V, V2], R],
        *,
        foreign_key: Callable[[V], K2 | None] | None = None,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]":
        """Rows that both tables have: `joiner(left, right)`. `foreign_key(left value)` names another right row."""
        return self._join(JoinKind.INNER, other, joiner, foreign_key, value, store, name)

    def left_join(
        self,
        other: "KTable[K2, V2]",
        joiner: Callable[[V, V2 | None], R],
        *,
        foreign_key: Callable[[V], K2 | None] | None = None,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]":
        """Every row of this table; the right value is None where there is none."""
        return self._join(JoinKind.LEFT, other, joiner, foreign_key, value, store, name)

    def outer_join(
        self,
        other: "KTable[K, V2]",
        joiner: Callable[[V | None, V2 | None], R],
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]":
        """Every row of either table."""
        return self._join(JoinKind.OUTER, other, joiner, None, value, store, name)

    def _join(
        self,
        kind: JoinKind,
        other: "KTable[Any, Any]",
        joiner: Callable[..., Any],
        foreign_key: Callable[[Any], Any] | None,
        value: Serde | None,
        store: str | None,
        name: str | None,
    ) -> "KTable[K, Any]":
        from moldau.pipeline.streams.table import KTable

        draft, where = self._draft, self._draft.here()
        if not isinstance(other, KTable):
            raise ConfigError(
                f"{where}: a table is joined with a table, not with {type(other).__name__}: turn it round "
                "(stream.join(table)), or make a table of the stream with to_table()"
            )
        draft.check_builder(other, where)
        if foreign_key is not None:
            return join_on_foreign_key(self, other, kind, foreign_key, joiner, value, store, name, where)
        other._check_same_key(self, where)
        node_name = draft.name("KTABLE-JOIN", name)
        sources = self._copartition(other)
        if kind is not JoinKind.INNER:
            draft.need_old_values(self.node)
        if kind is JoinKind.OUTER:
            draft.need_old_values(other.node)
        draft.need_values(self.node)
        draft.need_values(other.node)
        serde: Serde = value or draft.value_serde
        draft.add(
            TableJoin(
                name=node_name,
                parents=(self.node, other.node),
                where=where,
                store=self._store(store, serde, where),
                kind=kind,
                joiner=joiner,
            )
        )
        keys, sure = self._keys(None, where), value is not None
        return KTable(draft, node_name, keys, serde, sources, value_sure=sure, grace_ms=self._grace_ms)

    def _store(self, name: str | None, value_serde: Serde | None, where: Location) -> StoreSpec | None:
        if name is None:
            return None
        values = value_serde or self._draft.value_serde
        return StoreSpec(name, StoreKind.KEY_VALUE, self._keys(None, where), values, queryable=True)
