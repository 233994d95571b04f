"""The operators of a stream that keep no state."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TextIO

from moldau.pipeline.plan.nodes import (
    Filter,
    FlatMap,
    FlatMapValues,
    Map,
    MapValues,
    Merge,
    Node,
    Peek,
    Rule,
    SelectKey,
)
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.handle import Handle

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


class StatelessOperators(Handle):
    """Each gives a new stream; the old one stays as it was."""

    def filter(self, predicate: Rule, *, name: str | None = None) -> "KStream":
        """Keeps records for which `predicate(key, value)`, or the column expression, holds."""
        node = Filter(**self._next("KSTREAM-FILTER", name), predicate=predicate)
        return self._same(node)

    def filter_not(self, predicate: Rule, *, name: str | None = None) -> "KStream":
        node = Filter(**self._next("KSTREAM-FILTER", name), predicate=predicate, negate=True)
        return self._same(node)

    def map(
        self,
        mapper: Callable[[Any, Any], tuple[Any, Any]],
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> "KStream":
        """`mapper(key, value)` gives (key, value). What groups or joins by the new key is repartitioned first."""
        return self._changed(Map(**self._next("KSTREAM-MAP", name), mapper=mapper), key, value, rekeyed=True)

    def map_values(
        self, mapper: Rule, *, with_key: bool = False, value: Serde | None = None, name: str | None = None
    ) -> "KStream":
        """`mapper(value)`, with `with_key` `mapper(key, value)`, or a column expression, gives the new value."""
        node = MapValues(**self._next("KSTREAM-MAPVALUES", name), mapper=mapper, with_key=with_key)
        return self._changed(node, None, value)

    def flat_map(
        self,
        mapper: Callable[[Any, Any], Iterable[tuple[Any, Any]]],
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> "KStream":
        """`mapper(key, value)` gives any number of (key, value)."""
        return self._changed(
            FlatMap(**self._next("KSTREAM-FLATMAP", name), mapper=mapper), key, value, rekeyed=True
        )

    def flat_map_values(
        self,
        mapper: Callable[..., Iterable[Any]],
        *,
        with_key: bool = False,
        value: Serde | None = None,
        name: str | None = None,
    ) -> "KStream":
        """`mapper(value)`, or `mapper(key, value)`, gives any number of values."""
        node = FlatMapValues(**self._next("KSTREAM-FLATMAPVALUES", name), mapper=mapper, with_key=with_key)
        return self._changed(node, None, value)

    def select_key(self, mapper: Rule, *, key: Serde | None = None, name: str | None = None) -> "KStream":
        """`mapper(key, value)` gives the new key."""
        node = SelectKey(**self._next("KSTREAM-KEY-SELECT", name), mapper=mapper)
        stream = self._changed(node, key, None, rekeyed=True)
        stream._value_sure = self._value_sure
        return stream

    def peek(self, action: Callable[[Any, Any], Any], *, name: str | None = None) -> "KStream":
        """Calls `action(key, value)` and passes the record on."""
        return self._same(Peek(**self._next("KSTREAM-PEEK", name), action=action))

    def foreach(self, action: Callable[[Any, Any], Any], *, name: str | None = None) -> None:
        """Calls `action(key, value)`; nothing follows."""
        self._draft.add(Peek(**self._next("KSTREAM-FOREACH", name), action=action))

    def print(self, label: str = "", *, file: TextIO | None = None) -> None:
        """Writes every record as a line, for a look at what flows."""

        def write(key: Any, value: Any) -> None:
            (file or sys.stdout).write(f"[{label or self.node}]: {key}, {value}\n")

        self.foreach(write)

    def merge(self, *others: "KStream", name: str | None = None) -> "KStream":
        """The records of all these streams, each in its own order."""
        parents = (self.node, *(other.node for other in others))
        fields = {**self._next("KSTREAM-MERGE", name), "parents": parents}
        sources = tuple(dict.fromkeys(topic for one in (self, *others) for topic in one._sources))
        merged = self._same(Merge(**fields))
        merged._sources = sources
        merged._rekeyed = self._rekeyed or any(other._rekeyed for other in others)
        return merged

    def _next(self, prefix: str, name: str | None) -> dict[str, Any]:
        """The fields every node after this one has."""
        draft = self._draft
        return {"name": draft.name(prefix, name), "parents": (self.node,), "where": draft.here()}

    def _same(self, node: Node) -> "KStream":
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
    ) -> "KStream":
        """A stream with other values, perhaps other keys. Serdes not given are taken to stay the same."""
        stream = self._same(node)
        stream.value_serde, stream._value_sure = value or self.value_serde, value is not None
        if rekeyed:
            stream.key_serde, stream._key_sure = key or self.key_serde, key is not None
            stream._rekeyed = True
        return stream
