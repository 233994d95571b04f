"""What KStream and KTable have in common: the node behind them, serdes, partitioning."""

from typing import Any, Generic

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import Filter, RepartitionTopic, Sink, Source, has_key
from moldau.pipeline.serdes.kinds import K, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import check_serde
from moldau.pipeline.streams.draft import Draft


class Handle(Generic[K, V]):
    """`key_serde` and `value_serde` None: not known, the builder's defaults apply. `sources`: the topics whose
    partitions the records are in. `rekeyed`: the key may have changed since, so the records may be in the wrong
    partitions."""

    def __init__(
        self,
        draft: Draft,
        node: str,
        key_serde: Serde[K] | None,
        value_serde: Serde[V] | None,
        sources: tuple[str, ...],
        *,
        rekeyed: bool = False,
        key_sure: bool = True,
        value_sure: bool = True,
    ) -> None:
        self._draft = draft
        self.node = node
        self.key_serde = key_serde
        self.value_serde = value_serde
        self._sources = sources
        self._rekeyed = rekeyed
        self._key_sure = key_sure
        self._value_sure = value_sure
        self._by_key: dict[bool, Handle[K, V]] = {}
        """This stream behind a repartition topic, with null keys or without. Several joins share it."""

    def _next(self, prefix: str, name: str | None) -> dict[str, Any]:
        """The fields that every node after this one has."""
        draft = self._draft
        return {"name": draft.name(prefix, name), "parents": (self.node,), "where": draft.here()}

    def _keys(self, given: Serde[K] | None, where: Location) -> Serde[K]:
        """The serde for keys here: the given one, checked against the known one, or else the known one."""
        return _settled("key", given, self.key_serde, self._key_sure, self._draft.key_serde, where)

    def _values(self, given: Serde[V] | None, where: Location) -> Serde[V]:
        return _settled("value", given, self.value_serde, self._value_sure, self._draft.value_serde, where)

    def _through_topic(
        self,
        name: str,
        key_serde: Serde,
        value_serde: Serde,
        where: Location,
        *,
        partitions: int = 0,
        keeps_null_keys: bool = False,
    ) -> tuple[str, str]:
        """Sends the records through a repartition topic. Returns the node that reads it, and the topic."""
        draft = self._draft
        topic = f"{draft.application_id}-{name}-repartition"
        parent = self.node
        filter_name, sink_name = draft.name("KSTREAM-FILTER"), draft.name("KSTREAM-SINK")
        source_name = draft.name("KSTREAM-SOURCE")
        if not keeps_null_keys:
            draft.add(Filter(name=filter_name, parents=(parent,), where=where, predicate=has_key))
            parent = filter_name
        draft.add(
            Sink(
                name=sink_name,
                parents=(parent,),
                where=where,
                topic=topic,
                key_serde=key_serde,
                value_serde=value_serde,
            )
        )
        draft.add(
            Source(
                name=source_name, where=where, topics=(topic,), key_serde=key_serde, value_serde=value_serde
            )
        )
        draft.add_topic(RepartitionTopic(topic, partitions), where)
        return source_name, topic

    def _check_same_key(self, other: "Handle", where: Location) -> None:
        mine, theirs = self.key_serde, other.key_serde
        sure = self._key_sure and other._key_sure
        if mine is not None and theirs is not None and mine != theirs and sure:
            raise ConfigError(
                f"{where}: the keys of the two sides are {theirs.name} and {mine.name}, so equal keys would lie in "
                "different partitions; give both the same key serde"
            )

    def _copartition(self, *others: "Handle") -> tuple[str, ...]:
        """Notes that the topics of these must have equal partition counts. Returns all their topics."""
        sources = tuple(dict.fromkeys(topic for one in (self, *others) for topic in one._sources))
        if len(sources) > 1:
            self._draft.copartitioned.append((sources, self._draft.here()))
        return sources


def _settled(
    what: str, given: Serde | None, known: Serde | None, sure: bool, default: Serde, where: Location
) -> Serde:
    if given is None:
        return known or default
    check_serde(given, where)
    if known is not None and sure and known.gives and given.takes and not known.gives & given.takes:
        raise ConfigError(
            f"{where}: the {what}s here are {known.name} and cannot be written as {given.name}: "
            f"convert them first, or use {known.name}"
        )
    return given
