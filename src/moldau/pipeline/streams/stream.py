"""KStream: a stream of records in the user's hands."""

from collections.abc import Callable, Sequence
from typing import Any, Generic

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Arm, Node, Process, Rule, SelectKey, Sink, Split, TableSource
from moldau.pipeline.serdes.kinds import K2, V2, K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import store_names
from moldau.pipeline.streams.grouped import KGroupedStream
from moldau.pipeline.streams.joins import StreamJoins
from moldau.pipeline.streams.table import KTable


class KStream(StreamJoins[K, V]):
    """Records, each a fact of its own. See the operators without state and the joins in the classes it is made of."""

    def split(self, *, name: str | None = None) -> "BranchedStream[K, V]":
        """Several ways out: `.branch(predicate, name)` for each, then `.rest(name)` or `.no_rest()`."""
        return BranchedStream(self, name)

    def repartition(
        self,
        *,
        name: str | None = None,
        partitions: int = 0,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
    ) -> "KStream[K, V]":
        """Through a topic of the application, so that records lie where their keys belong."""
        where = self._draft.here()
        keys, values = self._keys(key, where), self._values(value, where)
        node, topic = self._through_topic(
            self._draft.name("KSTREAM-REPARTITION", name), keys, values, where, partitions=partitions
        )
        return KStream(self._draft, node, keys, values, (topic,))

    def to(
        self,
        topic: str | Callable[[K, V, RecordContext], str],
        *,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        partition_of: Callable[[str, K, V], int] | None = None,
        name: str | None = None,
    ) -> None:
        """Writes to a topic, or to the one that `topic(key, value, context)` names for each record."""
        fields = self._next("KSTREAM-SINK", name)
        chosen = None if isinstance(topic, str) else topic
        self._draft.add(
            Sink(
                **fields,
                topic=topic if isinstance(topic, str) else None,
                topic_of=chosen,
                key_serde=self._keys(key, fields["where"]),
                value_serde=self._values(value, fields["where"]),
                partition_of=partition_of,
            )
        )

    def to_table(
        self,
        *,
        store: str | None = None,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        history_ms: int | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """The stream as a table: the last value of each key; with `history_ms` also those before it, so far back."""
        draft, where = self._draft, self._draft.here()
        keys, values = self._keys(key, where), self._values(value, where)
        table_name = draft.name("KSTREAM-TOTABLE", name)
        latent = draft.table_store(store, "KSTREAM-TOTABLE-STATE-STORE", keys, values, history_ms, where)
        parent, sources = self.node, self._sources
        if self._rekeyed:
            parent, topic = self._through_topic(table_name, keys, values, where)
            sources = (topic,)
        draft.add(
            TableSource(
                name=table_name,
                parents=(parent,),
                where=where,
                store=None if store is None and history_ms is None else latent,
            ),
            latent,
        )
        return KTable(draft, table_name, keys, values, sources)

    def group_by(
        self,
        mapper: Callable[[K, V], K2] | Expression,
        *,
        key: Serde[K2] | None = None,
        value: Serde[V] | None = None,
        name: str | None = None,
    ) -> KGroupedStream[K2, V]:
        """Groups by `mapper(key, value)`; the records travel to the partition of their new key."""
        where = self._draft.here()
        node = SelectKey(**self._next("KSTREAM-KEY-SELECT", None), mapper=mapper)
        stream = self._changed(node, key, value, rekeyed=True)
        if value is None:
            stream._value_sure = self._value_sure
        return KGroupedStream(stream, stream._keys(key, where), stream._values(value, where), name)

    def group_by_key(
        self, *, key: Serde[K] | None = None, value: Serde[V] | None = None, name: str | None = None
    ) -> KGroupedStream[K, V]:
        """Groups by the key records have; without a topic between, if the key has not changed."""
        where = self._draft.here()
        return KGroupedStream(self, self._keys(key, where), self._values(value, where), name)

    def process(
        self,
        supplier: Callable[[], Any],
        *,
        stores: Sequence[str] = (),
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V2]":
        """Each task runs the processor that `supplier()` makes: any object with `process(record)`."""
        node = Process(
            **self._next("KSTREAM-PROCESSOR", name),
            supplier=supplier,
            uses=store_names(stores, self._draft.here()),
        )
        return self._changed(node, key, value, rekeyed=True)

    def process_values(
        self,
        supplier: Callable[[], Any],
        *,
        stores: Sequence[str] = (),
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """As process, by a processor that leaves the key alone: what follows needs no repartitioning."""
        node = Process(
            **self._next("KSTREAM-PROCESSVALUES", name),
            supplier=supplier,
            uses=store_names(stores, self._draft.here()),
            values_only=True,
        )
        return self._changed(node, None, value)


class BranchedStream(Generic[K, V]):
    """A split under way: each record takes the first branch whose predicate holds."""

    def __init__(self, stream: KStream[K, V], name: str | None) -> None:
        draft = stream._draft
        self._stream = stream
        self._split = draft.add(Split(**stream._next("KSTREAM-BRANCH", name), predicates=()))
        self._branches: dict[str, KStream[K, V]] = {}

    def branch(
        self, predicate: Callable[[K, V], object] | Expression, name: str | None = None
    ) -> "BranchedStream[K, V]":
        """One more way out. Its name in the result is the one given, or the number of the branch, from 1."""
        self._add(predicate, name or str(len(self._branches) + 1))
        return self

    def rest(self, name: str = "0") -> dict[str, KStream[K, V]]:
        """A last branch for records that took none; gives all branches by name."""
        self._add(None, name)
        return self._branches

    def no_rest(self) -> dict[str, KStream[K, V]]:
        """Records that took no branch are dropped; gives all branches by name."""
        return self._branches

    def _add(self, predicate: Rule | None, name: str) -> None:
        draft = self._stream._draft
        where = draft.here()
        if name in self._branches:
            raise ConfigError(f"{where}: the branch {name!r} exists already; give it another name")
        split = draft.nodes[self._split.name]
        assert isinstance(split, Split)
        if any(one is None for one in split.predicates):
            raise ConfigError(f"{where}: branch {name!r} comes after the rest and would get nothing")
        draft.change(split.name, predicates=(*split.predicates, predicate))
        arm: Node = Arm(
            name=f"{split.name}-{name}", parents=(split.name,), where=where, index=len(split.predicates)
        )
        self._branches[name] = self._stream._same(arm)
