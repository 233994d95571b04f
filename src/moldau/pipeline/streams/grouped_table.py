"""KGroupedTable: a regrouped table. Its aggregates subtract old values and add new ones."""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.plan.nodes import TableAggregate
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.changes import ChangeSerde
from moldau.pipeline.serdes.kinds import K, R, V
from moldau.pipeline.serdes.primitives import LONG
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import check_start
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.folding import one_more, zero
from moldau.pipeline.streams.handle import Handle
from moldau.pipeline.streams.table import KTable


class KGroupedTable(Handle[K, V]):
    def __init__(
        self, draft: Draft, node: str, key_serde: Serde[K], value_serde: Serde[V], name: str | None
    ) -> None:
        super().__init__(draft, node, key_serde, value_serde, ())
        self._name = name
        self._repartitioned: tuple[str, str] | None = None

    def count(self, *, store: str | None = None, name: str | None = None) -> KTable[K, int]:
        """Counts the rows of each group."""
        return self._aggregate(zero, one_more, _one_less, LONG, store, name)

    def reduce(
        self,
        adder: Callable[[V, V], V],
        subtractor: Callable[[V, V], V],
        *,
        store: str | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """`adder(aggregate, value)` for a new row, `subtractor(aggregate, value)` for a row that left the group."""
        serde = self._values(None, self._draft.here())
        return self._aggregate(None, adder, subtractor, serde, store, name, "KTABLE-REDUCE")

    def aggregate(
        self,
        initializer: Callable[[], R],
        adder: Callable[[K, V, R], R],
        subtractor: Callable[[K, V, R], R],
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> KTable[K, R]:
        """`adder(key, value, aggregate)` and `subtractor(key, value, aggregate)`, starting with `initializer()`."""
        return self._aggregate(initializer, adder, subtractor, value or self._draft.value_serde, store, name)

    def _aggregate(
        self,
        initializer: Callable[[], Any] | None,
        adder: Callable[..., Any],
        subtractor: Callable[..., Any],
        value_serde: Serde,
        store: str | None,
        name: str | None,
        prefix: str = "KTABLE-AGGREGATE",
    ) -> KTable:
        draft, where = self._draft, self._draft.here()
        check_start(initializer, value_serde, where)
        node_name = draft.name(prefix, name)
        store_name = draft.name(f"{prefix}-STATE-STORE", store)
        keys = self._keys(None, where)
        if self._repartitioned is None:
            changes = ChangeSerde(self._values(None, where))
            self._repartitioned = self._through_topic(
                self._name or store_name, keys, changes, where, keeps_null_keys=True
            )
        source, topic = self._repartitioned
        spec = StoreSpec(store_name, StoreKind.KEY_VALUE, keys, value_serde, queryable=store is not None)
        draft.add(
            TableAggregate(
                name=node_name,
                parents=(source,),
                where=where,
                initializer=initializer,
                adder=adder,
                subtractor=subtractor,
                store=spec,
            )
        )
        return KTable(draft, node_name, keys, value_serde, (topic,))


def _one_less(key: Any, value: Any, so_far: int) -> int:
    return so_far - 1
