"""KTable: a table in the user's hands: the last value of each key, and every change of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import (
    JoinKind,
    Rule,
    Suppress,
    TableFilter,
    TableGroup,
    TableJoin,
    TableMapValues,
    TableToStream,
    TableTransformValues,
    history_of,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.foreign_key import join_on_foreign_key
from moldau.pipeline.streams.handle import Handle

if TYPE_CHECKING:
    from moldau.pipeline.streams.grouped_table import KGroupedTable
    from moldau.pipeline.streams.stream import KStream


class KTable(Handle):
    """`grace_ms` is that of its windows, None for a table without windows. `store=` anywhere names a store that can be
    asked from outside."""

    def __init__(
        self,
        draft: Draft,
        node: str,
        key_serde: Serde,
        value_serde: Serde | None,
        sources: tuple[str, ...],
        *,
        value_sure: bool = True,
        grace_ms: int | None = None,
    ) -> None:
        super().__init__(draft, node, key_serde, value_serde, sources, value_sure=value_sure)
        self._grace_ms = grace_ms

    def filter(self, predicate: Rule, *, store: str | None = None, name: str | None = None) -> "KTable":
        """Rows for which `predicate(key, value)` holds; a row for which it no longer does is removed."""
        return self._filter(predicate, store, name, negate=False)

    def filter_not(self, predicate: Rule, *, store: str | None = None, name: str | None = None) -> "KTable":
        return self._filter(predicate, store, name, negate=True)

    def map_values(
        self,
        mapper: Rule,
        *,
        with_key: bool = False,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable":
        """`mapper(value)`, `mapper(key, value)` or a column expression; never called for a removed row."""
        node_name, where = self._draft.name("KTABLE-MAPVALUES", name), self._draft.here()
        serde = value or self.value_serde
        spec = self._store(store, serde, where)
        self._draft.add(
            TableMapValues(
                name=node_name,
                parents=(self.node,),
                where=where,
                store=spec,
                mapper=mapper,
                with_key=with_key,
            )
        )
        return self._made(node_name, serde, value_sure=value is not None)

    def transform_values(
        self,
        supplier: Callable[[], Any],
        *,
        stores: Sequence[str] = (),
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable":
        """As map_values, by an object with `transform(key, value)` that may use stores; it also hears of removals."""
        node_name, where = self._draft.name("KTABLE-TRANSFORMVALUES", name), self._draft.here()
        serde = value or self.value_serde
        spec = self._store(store, serde, where)
        self._draft.add(
            TableTransformValues(
                name=node_name,
                parents=(self.node,),
                where=where,
                store=spec,
                supplier=supplier,
                uses=tuple(stores),
            )
        )
        return self._made(node_name, serde, value_sure=value is not None)

    def to_stream(
        self,
        mapper: Callable[[Any, Any], Any] | None = None,
        *,
        key: Serde | None = None,
        name: str | None = None,
    ) -> "KStream":
        """Every change as a record of the new value; `mapper(key, value)` gives another key. What is made of a windowed
        key is taken to be of the builder's default kind."""
        from moldau.pipeline.streams.stream import KStream

        node_name = self._draft.name("KTABLE-TOSTREAM", name)
        self._draft.add(
            TableToStream(name=node_name, parents=(self.node,), where=self._draft.here(), mapper=mapper)
        )
        return KStream(
            self._draft,
            node_name,
            key or (self.key_serde if mapper is None or self._grace_ms is None else None),
            self.value_serde,
            self._sources,
            rekeyed=mapper is not None,
            key_sure=mapper is None or key is not None,
            value_sure=self._value_sure,
        )

    def group_by(
        self,
        mapper: Callable[[Any, Any], tuple[Any, Any]],
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> "KGroupedTable":
        """Groups rows by the (key, value) that `mapper(key, value)` gives; a changed row leaves its old group."""
        from moldau.pipeline.streams.grouped_table import KGroupedTable

        draft, where = self._draft, self._draft.here()
        draft.need_old_values(self.node)
        node_name = draft.name("KTABLE-SELECT", name and f"{name}-select")
        draft.add(TableGroup(name=node_name, parents=(self.node,), where=where, mapper=mapper))
        return KGroupedTable(
            draft, node_name, key or draft.key_serde, value or self.value_serde or draft.value_serde, name
        )

    def suppress(
        self,
        *,
        until_ms: int | None = None,
        records_max: int | None = None,
        bytes_max: int | None = None,
        when_full: Literal["emit", "fail"] = "emit",
        name: str | None = None,
    ) -> "KTable":
        """Holds changes back: until their window closes, or with `until_ms` for that long of stream time."""
        draft, where = self._draft, self._draft.here()
        if until_ms is None and self._grace_ms is None:
            raise ConfigError(
                f"{where}: this table has no windows that could close; give suppress() until_ms="
            )
        if history_of(self.node, draft.nodes) is not None:
            raise ConfigError(
                f"{where}: suppress() knows only the present of a table, and this one keeps its history; "
                "leave history_ms= out, or suppress a table made of it that has a store of its own"
            )
        draft.need_old_values(self.node)
        node_name = draft.name("KTABLE-SUPPRESS", name)
        keys, values = self._keys(None, where), self._values(None, where)
        spec = StoreSpec(f"{node_name}-store", StoreKind.BUFFER, keys, values)
        draft.add(
            Suppress(
                name=node_name,
                parents=(self.node,),
                where=where,
                store=spec,
                until_ms=until_ms,
                grace_ms=self._grace_ms or 0,
                records_max=records_max,
                bytes_max=bytes_max,
                when_full=when_full,
            )
        )
        return self._made(node_name, self.value_serde, value_sure=self._value_sure)

    def join(
        self,
        other: "KTable",
        joiner: Callable[[Any, Any], Any],
        *,
        foreign_key: Callable[[Any], Any] | None = None,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable":
        """Rows that both tables have: `joiner(left, right)`. `foreign_key(left value)` names another right row."""
        return self._join(JoinKind.INNER, other, joiner, foreign_key, value, store, name)

    def left_join(
        self,
        other: "KTable",
        joiner: Callable[[Any, Any], Any],
        *,
        foreign_key: Callable[[Any], Any] | None = None,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable":
        """Every row of this table; the right value is None where there is none."""
        return self._join(JoinKind.LEFT, other, joiner, foreign_key, value, store, name)

    def outer_join(
        self,
        other: "KTable",
        joiner: Callable[[Any, Any], Any],
        *,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable":
        """Every row of either table."""
        return self._join(JoinKind.OUTER, other, joiner, None, value, store, name)

    def _join(
        self,
        kind: JoinKind,
        other: "KTable",
        joiner: Callable[[Any, Any], Any],
        foreign_key: Callable[[Any], Any] | None,
        value: Serde | None,
        store: str | None,
        name: str | None,
    ) -> "KTable":
        draft, where = self._draft, self._draft.here()
        if other._draft is not draft:
            raise ConfigError(f"{where}: the two sides of a join come from two builders; make both with one")
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
        serde = value or draft.value_serde
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
        return KTable(
            draft,
            node_name,
            self._keys(None, where),
            serde,
            sources,
            value_sure=value is not None,
            grace_ms=self._grace_ms,
        )

    def _filter(self, predicate: Rule, store: str | None, name: str | None, *, negate: bool) -> "KTable":
        draft, where = self._draft, self._draft.here()
        node_name = draft.name("KTABLE-FILTER", name)
        spec = self._store(store, self.value_serde, where)
        # A parent that has its old values at hand spares its readers removals of rows that never passed.
        sends_old = draft.need_old_values(self.node, force=False)
        draft.add(
            TableFilter(
                name=node_name,
                parents=(self.node,),
                where=where,
                store=spec,
                send_old_values=sends_old,
                predicate=predicate,
                negate=negate,
            )
        )
        return self._made(node_name, self.value_serde, value_sure=self._value_sure)

    def _made(self, node: str, value_serde: Serde | None, *, value_sure: bool) -> "KTable":
        keys = self.key_serde or self._draft.key_serde
        return KTable(
            self._draft,
            node,
            keys,
            value_serde,
            self._sources,
            value_sure=value_sure,
            grace_ms=self._grace_ms,
        )

    def _store(self, name: str | None, value_serde: Serde | None, where: Location) -> StoreSpec | None:
        if name is None:
            return None
        values = value_serde or self._draft.value_serde
        return StoreSpec(name, StoreKind.KEY_VALUE, self._keys(None, where), values, queryable=True)

    def _check_same_key(self, other: Handle, where: Location) -> None:
        mine, theirs = self.key_serde, other.key_serde
        if mine is not None and theirs is not None and mine != theirs and other._key_sure:
            raise ConfigError(
                f"{where}: the keys of the two sides are {theirs.name} and {mine.name}, so equal keys would lie in "
                "different partitions; give both the same key serde"
            )
