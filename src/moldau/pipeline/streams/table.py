"""KTable: the table that a user works with."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import (
    JoinKind,
    TableFilter,
    TableGroup,
    TableMapValues,
    TableToStream,
    TableTransformValues,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.kinds import K2, V2, K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import serde_of_result, store_names
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.handle import Handle
from moldau.pipeline.streams.suppressing import suppress
from moldau.pipeline.streams.table_joins import Joining, join

if TYPE_CHECKING:
    from moldau.pipeline.streams.grouped_table import KGroupedTable
    from moldau.pipeline.streams.stream import KStream


class KTable(Handle[K, V]):
    """A table: the last value of each key, and every change of it. `store=` names a store that can be queried."""

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
        """Of its windows; None for a table without windows."""

    def filter(
        self,
        predicate: Callable[[K, V], object] | Expression,
        *,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, V]":
        """Keeps the rows for which `predicate(key, value)` is true. A row for which it becomes false is removed."""
        return self._filter(predicate, store, name, negate=False)

    def filter_not(
        self,
        predicate: Callable[[K, V], object] | Expression,
        *,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, V]":
        return self._filter(predicate, store, name, negate=True)

    @overload
    def map_values(
        self,
        mapper: Callable[[V], R],
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]": ...
    @overload
    def map_values(
        self,
        mapper: Callable[[K, V], R],
        *,
        with_key: Literal[True],
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]": ...
    @overload
    def map_values(
        self,
        mapper: Expression,
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]": ...
    def map_values(
        self,
        mapper: Any,
        *,
        with_key: bool = False,
        value: Any = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, Any]":
        """`mapper(value)`, `mapper(key, value)` with `with_key`, or a column expression. Not called for removed
        rows."""
        fields = self._next("KTABLE-MAPVALUES", name)
        serde = serde_of_result(mapper, value, self.value_serde, fields["where"])
        spec = self._store(store, serde, fields["where"])
        self._draft.add(TableMapValues(**fields, store=spec, mapper=mapper, with_key=with_key))
        return self._made(fields["name"], serde, value_sure=value is not None)

    def transform_values(
        self,
        supplier: Callable[[], Any],
        *,
        stores: Sequence[str] = (),
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> "KTable[K, R]":
        """Like map_values, with an object with `transform(key, value)` that may use stores. It also gets removals."""
        fields, serde = self._next("KTABLE-TRANSFORMVALUES", name), value or self.value_serde
        spec, uses = self._store(store, serde, fields["where"]), store_names(stores, fields["where"])
        self._draft.add(TableTransformValues(**fields, store=spec, supplier=supplier, uses=uses))
        return self._made(fields["name"], serde, value_sure=value is not None)

    @overload
    def to_stream(self, *, name: str | None = None) -> "KStream[K, V]": ...
    @overload
    def to_stream(
        self, mapper: Callable[[K, V], K2], *, key: Serde[K2] | None = None, name: str | None = None
    ) -> "KStream[K2, V]": ...
    def to_stream(self, mapper: Any = None, *, key: Any = None, name: str | None = None) -> "KStream[Any, V]":
        """Every change as a record of the new value. `mapper(key, value)` returns another key. For a windowed table,
        that key gets the builder's default serde unless `key` is given."""
        from moldau.pipeline.streams.stream import KStream

        fields = self._next("KTABLE-TOSTREAM", name)
        self._draft.add(TableToStream(**fields, mapper=mapper))
        return KStream(
            self._draft,
            fields["name"],
            key or (self.key_serde if mapper is None or self._grace_ms is None else None),
            self.value_serde,
            self._sources,
            rekeyed=mapper is not None,
            key_sure=mapper is None or key is not None,
            value_sure=self._value_sure,
        )

    def group_by(
        self,
        mapper: Callable[[K, V], tuple[K2, V2]],
        *,
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        name: str | None = None,
    ) -> "KGroupedTable[K2, V2]":
        """Groups rows by the (key, value) that `mapper(key, value)` returns. A changed row leaves its old group."""
        from moldau.pipeline.streams.grouped_table import KGroupedTable

        draft = self._draft
        draft.need_old_values(self.node)
        fields = self._next("KTABLE-SELECT", name and f"{name}-select")
        draft.add(TableGroup(**fields, mapper=mapper))
        values: Serde = value or self.value_serde or draft.value_serde
        return KGroupedTable(draft, fields["name"], key or draft.key_serde, values, name)

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
        """Rows that are in both tables: `joiner(left, right)`. `foreign_key(left value)` returns the key of the right
        row, if it is not the same key."""
        joining = Joining(JoinKind.INNER, joiner, value, store, name, self._draft.here())
        return join(self, other, joining, foreign_key)

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
        """Every row of this table. The right value is None if there is none."""
        joining = Joining(JoinKind.LEFT, joiner, value, store, name, self._draft.here())
        return join(self, other, joining, foreign_key)

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
        joining = Joining(JoinKind.OUTER, joiner, value, store, name, self._draft.here())
        return join(self, other, joining, None)

    def suppress(
        self,
        *,
        until_ms: int | None = None,
        records_max: int | None = None,
        bytes_max: int | None = None,
        when_full: Literal["emit", "fail"] = "emit",
        name: str | None = None,
    ) -> "KTable[K, V]":
        """Holds changes back until their window closes, or with `until_ms` for that long in stream time."""
        return suppress(self, until_ms, records_max, bytes_max, when_full, name)

    def _filter(self, predicate: Any, store: str | None, name: str | None, *, negate: bool) -> "KTable[K, V]":
        fields = self._next("KTABLE-FILTER", name)
        spec = self._store(store, self.value_serde, fields["where"])
        # If the parent has old values at hand, the filter need not emit removals of rows that never passed.
        sends_old = self._draft.need_old_values(self.node, force=False)
        self._draft.add(
            TableFilter(**fields, store=spec, send_old_values=sends_old, predicate=predicate, negate=negate)
        )
        return self._made(fields["name"], self.value_serde, value_sure=self._value_sure)

    def _made(self, node: str, value_serde: Serde | None, *, value_sure: bool) -> "KTable[K, Any]":
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
