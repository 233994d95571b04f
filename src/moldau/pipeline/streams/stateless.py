"""The operators of a stream that keep no state."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TextIO, overload

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import (
    Filter,
    FlatMap,
    FlatMapValues,
    Map,
    MapValues,
    Merge,
    Node,
    Peek,
    SelectKey,
)
from moldau.pipeline.serdes.kinds import K2, V2, K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import check_serde, serde_of_result
from moldau.pipeline.streams.handle import Handle

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


class StatelessOperators(Handle[K, V]):
    """Each gives a new stream; the old one stays as it was."""

    def filter(
        self, predicate: Callable[[K, V], object] | Expression, *, name: str | None = None
    ) -> "KStream[K, V]":
        """Keeps records for which `predicate(key, value)`, or the column expression, holds."""
        return self._same(Filter(**self._next("KSTREAM-FILTER", name), predicate=predicate))

    def filter_not(
        self, predicate: Callable[[K, V], object] | Expression, *, name: str | None = None
    ) -> "KStream[K, V]":
        return self._same(Filter(**self._next("KSTREAM-FILTER", name), predicate=predicate, negate=True))

    def map(
        self,
        mapper: Callable[[K, V], tuple[K2, V2]],
        *,
        key: Serde[K2] | None = None,
        value: Serde[V2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V2]":
        """`mapper(key, value)` gives (key, value). What groups or joins by the new key is repartitioned first."""
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
        """`mapper(value)`, with `with_key` `mapper(key, value)`, or a column expression, gives the new value."""
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
        """`mapper(key, value)` gives any number of (key, value)."""
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
        """`mapper(value)`, or `mapper(key, value)`, gives any number of values."""
        node = FlatMapValues(**self._next("KSTREAM-FLATMAPVALUES", name), mapper=mapper, with_key=with_key)
        return self._changed(node, None, value)

    def select_key(
        self,
        mapper: Callable[[K, V], K2] | Expression,
        *,
        key: Serde[K2] | None = None,
        name: str | None = None,
    ) -> "KStream[K2, V]":
        """`mapper(key, value)` gives the new key."""
        node = SelectKey(**self._next("KSTREAM-KEY-SELECT", name), mapper=mapper)
        stream: KStream[K2, V] = self._changed(node, key, None, rekeyed=True)
        stream._value_sure = self._value_sure
        return stream

    def peek(self, action: Callable[[K, V], object], *, name: str | None = None) -> "KStream[K, V]":
        """Calls `action(key, value)` and passes the record on."""
        return self._same(Peek(**self._next("KSTREAM-PEEK", name), action=action))

    def foreach(self, action: Callable[[K, V], object], *, name: str | None = None) -> None:
        """Calls `action(key, value)`; nothing follows."""
        self._draft.add(Peek(**self._next("KSTREAM-FOREACH", name), action=action))

    def print(self, label: str = "", *, file: TextIO | None = None) -> None:
        """Writes every record as a line, for a look at what flows."""
        shown = label or self.node

        def write(key: Any, value: Any) -> None:
            (file or sys.stdout).write(f"[{shown}]: {key}, {value}\n")

        self.foreach(write)

    def merge(self, *others: "KStream[K, V]", name: str | None = None) -> "KStream[K, V]":
        """The records of all these streams, each in its own order."""
        where = self._draft.here()
        for other in others:
            self._draft.check_builder(other, where)
            other._keys(self.key_serde if self._key_sure else None, where)
            other._values(self.value_serde if self._value_sure else None, where)
        parents = (self.node, *(other.node for other in others))
        fields = {**self._next("KSTREAM-MERGE", name), "parents": parents}
        sources = tuple(dict.fromkeys(topic for one in (self, *others) for topic in one._sources))
        merged = self._same(Merge(**fields))
        merged._sources = sources
        merged._rekeyed = self._rekeyed or any(other._rekeyed for other in others)
        return merged

    def _same(self, node: Node) -> "KStream[K, V]":
        """A stream with the same kinds of keys and values."""
        from moldau.pipeline.streams.stream import KStream

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
        """A stream with other values, perhaps other keys. Serdes not given are taken to stay the same."""
        for serde in (key, value):
            check_serde(serde, node.where)
        stream: KStream[Any, Any] = self._same(node)
        stream.value_serde, stream._value_sure = value or self.value_serde, value is not None
        if rekeyed:
            stream.key_serde, stream._key_sure = key or self.key_serde, key is not None
            stream._rekeyed = True
        return stream
