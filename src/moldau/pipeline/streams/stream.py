"""KStream: the stream that a user works with."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TextIO, overload

from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import (
    Filter,
    FlatMap,
    FlatMapValues,
    JoinKind,
    Map,
    MapValues,
    Node,
    Peek,
    Process,
    SelectKey,
)
from moldau.pipeline.plan.windows import JoinWindows
from moldau.pipeline.serdes.kinds import K2, V2, K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.branched import BranchedStream
from moldau.pipeline.streams.checks import check_serde, serde_of_result, store_names
from moldau.pipeline.streams.global_table import GlobalKTable
from moldau.pipeline.streams.grouped import KGroupedStream
from moldau.pipeline.streams.handle import Handle
from moldau.pipeline.streams.joins import Joining, join
from moldau.pipeline.streams.routing import merged, to_table, write
from moldau.pipeline.streams.table import KTable
from moldau.pipeline.streams.transforming import transformed


class KStream(Handle[K, V]):
    """A stream of independent records. Each operator returns a new stream and leaves this one as it was.

    A join calls `joiner(left, right)`, or `joiner(key, left, right)` with `with_key`. A join with a stream needs
    `windows`. A join with a global table needs `on(key, value)`, which returns the key to look up there. A join with a
    table that keeps its history may have `grace_ms`: how long records wait for rows that arrive late.
    """

    # More than 20 public methods: they mirror Kafka Streams' KStream, which users know.

    def filter(
        self, predicate: Callable[[K, V], object] | Expression, *, name: str | None = None
    ) -> "KStream[K, V]":
        """Keeps the records for which `predicate(key, value)`, or the column expression, is true."""
        return self._same(Filter(**self._next("KSTREAM-FILTER", name), predicate=predicate))

    def filter_not(
        self, predicate: Callable[[K, V], object] | Expression, *, name: str | None = None
    ) -> "KStream[K, V]":
        """Keeps the records for which `predicate(key, value)`, or the column expression, is false."""
        return self._same(Filter(**self._next("KSTREAM-FILTER", name), predicate=predicate, negate=True))

    def map(
        self,
        mapper: Callable[[K, V], tuple[K2, V2]],
        *,
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V2]":
        """`mapper(key, value)` returns (key, value). A group or a join by the new key repartitions first."""
        return self._changed(Map(**self._next("KSTREAM-MAP", name), mapper=mapper), key, value, rekeyed=True)

    @overload
    def map_values(
        self, mapper: Expression, *, value: Serde[R] | None = None, name: str | None = None
    ) -> "KStream[K, R]": ...
    @overload
    def map_values(
        self, mapper: Callable[[V], R], *, value: Serde[R] | None = None, name: str | None = None
    ) -> "KStream[K, R]": ...
    @overload
    def map_values(
        self,
        mapper: Callable[[K, V], R],
        *,
        with_key: Literal[True],
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]": ...
    def map_values(
        self, mapper: Any, *, with_key: bool = False, value: Any = None, name: str | None = None
    ) -> "KStream[K, Any]":
        """The new value is `mapper(value)`, `mapper(key, value)` with `with_key`, or a column expression."""
        node = MapValues(**self._next("KSTREAM-MAPVALUES", name), mapper=mapper, with_key=with_key)
        serde = serde_of_result(mapper, value, self.value_serde, node.where)
        stream = self._changed(node, None, serde)
        stream._value_sure = value is not None
        return stream

    def flat_map(
        self,
        mapper: Callable[[K, V], Iterable[tuple[K2, V2]]],
        *,
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V2]":
        """`mapper(key, value)` returns any number of (key, value)."""
        node = FlatMap(**self._next("KSTREAM-FLATMAP", name), mapper=mapper)
        return self._changed(node, key, value, rekeyed=True)

    @overload
    def flat_map_values(
        self, mapper: Callable[[V], Iterable[R]], *, value: Serde[R] | None = None, name: str | None = None
    ) -> "KStream[K, R]": ...
    @overload
    def flat_map_values(
        self,
        mapper: Callable[[K, V], Iterable[R]],
        *,
        with_key: Literal[True],
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]": ...
    def flat_map_values(
        self, mapper: Any, *, with_key: bool = False, value: Any = None, name: str | None = None
    ) -> "KStream[K, Any]":
        """`mapper(value)`, or `mapper(key, value)` with `with_key`, returns any number of values."""
        node = FlatMapValues(**self._next("KSTREAM-FLATMAPVALUES", name), mapper=mapper, with_key=with_key)
        return self._changed(node, None, value)

    def select_key(
        self,
        mapper: Callable[[K, V], K2] | Expression,
        *,
        key: Serde[K2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V]":
        """`mapper(key, value)` returns the new key."""
        return self._with_key_of("KSTREAM-KEY-SELECT", name, mapper, key)

    def peek(self, action: Callable[[K, V], object], *, name: str | None = None) -> "KStream[K, V]":
        """Calls `action(key, value)` and passes the record on."""
        return self._same(Peek(**self._next("KSTREAM-PEEK", name), action=action))

    def foreach(self, action: Callable[[K, V], object], *, name: str | None = None) -> None:
        """Calls `action(key, value)`. The stream ends here."""
        self._draft.add(Peek(**self._next("KSTREAM-FOREACH", name), action=action))

    def print(self, label: str = "", *, file: TextIO | None = None) -> None:
        """Prints each record as a line."""
        shown = label or self.node

        def write_line(key: Any, value: Any) -> None:
            (file or sys.stdout).write(f"[{shown}]: {key}, {value}\n")

        self.foreach(write_line)

    def merge(self, *others: "KStream[K, V]", name: str | None = None) -> "KStream[K, V]":
        """The records of all these streams. The order within each stream is kept."""
        return merged(self, others, name)

    def split(self, *, name: str | None = None) -> "BranchedStream[K, V]":
        """Splits the stream: `.branch(predicate, name)` for each branch, then `.rest(name)` or `.no_rest()`."""
        return BranchedStream(self, name)

    def repartition(
        self,
        *,
        name: str | None = None,
        partitions: int = 0,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
    ) -> "KStream[K, V]":
        """Sends the records through a repartition topic, so that equal keys are in the same partition."""
        where = self._draft.here()
        keys, values = self._keys(key, where), self._values(value, where)
        node, topic = self._through_topic(
            self._draft.name("KSTREAM-REPARTITION", name), keys, values, where, partitions=partitions
        )
        return KStream(self._draft, node, keys, values, (topic,))

    def transform(
        self,
        function: Callable[[Any], Any],
        *,
        schema: str | None = None,
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        partitions: int = 0,
        name: str | None = None,
    ) -> "KStream[K2, V2]":
        """`function(df)` takes the records of one batch as a Spark DataFrame with the columns `key`, `value`,
        `timestamp` and `headers`, and returns a DataFrame with columns of the same meaning. With `schema`, such as
        `"user STRING, amount DOUBLE"`, the fields of the value are columns instead of `value`. `key` and `value` are
        the serdes of the result."""
        return transformed(
            self, function, schema=schema, key=key, value=value, partitions=partitions, name=name
        )

    def to(
        self,
        topic: str | Callable[[K, V, RecordContext], str],
        *,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        partition_of: Callable[[str, K, V], int] | None = None,
        name: str | None = None,
    ) -> None:
        """Writes to a topic, or to the topic that `topic(key, value, context)` returns for each record."""
        write(self, topic, key, value, partition_of, name)

    def to_table(
        self,
        *,
        store: str | None = None,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        history_ms: int | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """Turns the stream into a table of the last value of each key. `history_ms` keeps earlier values that long."""
        return to_table(self, store, key, value, history_ms, name)

    def group_by(
        self,
        mapper: Callable[[K, V], K2] | Expression,
        *,
        key: Serde[K2] | None = None,
        value: Serde[V] | None = None,
        name: str | None = None,
    ) -> KGroupedStream[K2, V]:
        """Groups by `mapper(key, value)`. The records go through a repartition topic."""
        where = self._draft.here()
        stream = self._with_key_of("KSTREAM-KEY-SELECT", None, mapper, key, value)
        return KGroupedStream(stream, stream._keys(key, where), stream._values(value, where), name)

    def group_by_key(
        self, *, key: Serde[K] | None = None, value: Serde[V] | None = None, name: str | None = None
    ) -> KGroupedStream[K, V]:
        """Groups by the current key. Needs no repartition topic unless the key has changed."""
        where = self._draft.here()
        return KGroupedStream(self, self._keys(key, where), self._values(value, where), name)

    def join(
        self,
        other: "KStream[K, Any] | KTable[K, Any] | GlobalKTable",
        joiner: Callable[..., R],
        *,
        windows: JoinWindows | None = None,
        on: Callable[[K, V], object] | Expression | None = None,
        grace_ms: int | None = None,
        with_key: bool = False,
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Only the records that have a match."""
        joining = Joining(JoinKind.INNER, joiner, with_key, value, name, self._draft.here())
        return join(self, other, joining, windows, on, grace_ms)

    def left_join(
        self,
        other: "KStream[K, Any] | KTable[K, Any] | GlobalKTable",
        joiner: Callable[..., R],
        *,
        windows: JoinWindows | None = None,
        on: Callable[[K, V], object] | Expression | None = None,
        grace_ms: int | None = None,
        with_key: bool = False,
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Every record of this stream. The right value is None where nothing matches; in a join of two streams such a
        record is emitted when its window closes."""
        joining = Joining(JoinKind.LEFT, joiner, with_key, value, name, self._draft.here())
        return join(self, other, joining, windows, on, grace_ms)

    def outer_join(
        self,
        other: "KStream[K, Any]",
        joiner: Callable[..., R],
        *,
        windows: JoinWindows,
        with_key: bool = False,
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Every record of both streams, with None where nothing matches."""
        joining = Joining(JoinKind.OUTER, joiner, with_key, value, name, self._draft.here())
        return join(self, other, joining, windows, None, None)

    def process(
        self,
        supplier: Callable[[], Any],
        *,
        stores: Sequence[str] = (),
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V2]":
        """Each task runs the processor that `supplier()` returns: any object with `process(record)`."""
        fields, uses = self._next("KSTREAM-PROCESSOR", name), store_names(stores, self._draft.here())
        return self._changed(Process(**fields, supplier=supplier, uses=uses), key, value, rekeyed=True)

    def process_values(
        self,
        supplier: Callable[[], Any],
        *,
        stores: Sequence[str] = (),
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Like process, with a processor that does not change the key: no repartitioning is needed after it."""
        fields, uses = self._next("KSTREAM-PROCESSVALUES", name), store_names(stores, self._draft.here())
        return self._changed(Process(**fields, supplier=supplier, uses=uses, values_only=True), None, value)

    def _same(self, node: Node) -> "KStream[K, V]":
        """A stream with the same kinds of keys and values."""
        self._draft.add(node)
        return KStream(
            self._draft,
            node.name,
            self.key_serde,
            self.value_serde,
            self._sources,
            rekeyed=self._rekeyed,
            key_sure=self._key_sure,
            value_sure=self._value_sure,
        )

    def _changed(
        self, node: Node, key: Serde | None, value: Serde | None, *, rekeyed: bool = False
    ) -> "KStream[Any, Any]":
        """A stream with other values, and other keys if `rekeyed`. A serde that is not given is assumed unchanged."""
        for serde in (key, value):
            check_serde(serde, node.where)
        stream: KStream[Any, Any] = self._same(node)
        stream.value_serde, stream._value_sure = value or self.value_serde, value is not None
        if rekeyed:
            stream.key_serde, stream._key_sure = key or self.key_serde, key is not None
            stream._rekeyed = True
        return stream

    def _with_key_of(
        self, prefix: str, name: str | None, mapper: Any, key: Serde | None, value: Serde | None = None
    ) -> "KStream[Any, V]":
        """A stream whose keys are what `mapper` returns; the values stay as they are."""
        stream = self._changed(SelectKey(**self._next(prefix, name), mapper=mapper), key, value, rekeyed=True)
        if value is None:
            stream._value_sure = self._value_sure
        return stream

    def _partitioned_by_key(
        self, name: str | None, where: Location, *, keeps_null_keys: bool
    ) -> "KStream[K, V]":
        """This stream with equal keys in the same partition: behind a repartition topic if the keys may have changed.
        Several joins share one such topic."""
        found = self._by_key.get(keeps_null_keys) if self._rekeyed else self
        if found is not None:
            assert isinstance(found, KStream)
            return found
        keys, values = self._keys(None, where), self._values(None, where)
        given = name or (f"{self.node}-with-null-keys" if keeps_null_keys else self.node)
        node, topic = self._through_topic(given, keys, values, where, keeps_null_keys=keeps_null_keys)
        stream = KStream(self._draft, node, keys, values, (topic,), value_sure=self._value_sure)
        self._by_key[keeps_null_keys] = stream
        return stream
