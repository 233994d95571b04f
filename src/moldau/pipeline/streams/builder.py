"""StreamsBuilder: creates the streams and tables of a topology, and builds and checks it."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.handlers import ErrorHandlers
from moldau.pipeline.plan.location import Location, callers_location
from moldau.pipeline.plan.nodes import (
    GlobalTable,
    Node,
    OffsetReset,
    Process,
    Rule,
    Source,
    TableSource,
    TableTransformValues,
    unresolved,
)
from moldau.pipeline.plan.partitions import settle_partitions
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.serdes.kinds import K, V
from moldau.pipeline.serdes.primitives import JSON, STRING
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import check_name, check_serde
from moldau.pipeline.streams.draft import Draft
from moldau.pipeline.streams.global_table import GlobalKTable
from moldau.pipeline.streams.stream import KStream
from moldau.pipeline.streams.table import KTable

E = TypeVar("E", bound=StrEnum)


class StreamsBuilder:
    """`key` and `value` are the default serdes. `application_id` is the prefix of internal topics and the name of the
    consumer group."""

    def __init__(self, application_id: str = "app", *, key: Serde = STRING, value: Serde = JSON) -> None:
        where = callers_location()
        check_name("application id", application_id, where)
        for serde in (key, value):
            check_serde(serde, where)
        self._draft = Draft(application_id, key, value)

    def stream(
        self,
        *topics: str | re.Pattern[str],
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        timestamp: Rule | str | None = None,
        offset_reset: OffsetReset | str = OffsetReset.EARLIEST,
        name: str | None = None,
    ) -> KStream[K, V]:
        """The records of one or more topics, or of all topics that match a pattern, `re.compile(...)`, when the
        application starts. `timestamp`: the field of the value with the event time in ms, a column expression, or a
        function of (value, record timestamp)."""
        reset = _one_of(OffsetReset, offset_reset, "offset_reset", self._draft.here())
        pattern = topics[0].pattern if len(topics) == 1 and isinstance(topics[0], re.Pattern) else ""
        named = (unresolved(pattern),) if pattern else topics
        source = self._source(named, key, value, timestamp, reset, name, pattern)  # type: ignore[arg-type]
        return KStream(self._draft, source.name, source.key_serde, source.value_serde, source.topics)

    def table(
        self,
        topic: str,
        *,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        timestamp: Rule | str | None = None,
        store: str | None = None,
        history_ms: int | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """A topic as a table: the last value of each key. `history_ms` also keeps earlier values that long: a late row
        is inserted at its time, and a joined stream sees the rows as of its own time."""
        draft = self._draft
        source = self._source(
            (topic,), key, value, timestamp, OffsetReset.EARLIEST, name and f"{name}-source"
        )
        latent = draft.table_store(
            store, f"{topic}-STATE-STORE", source.key_serde, source.value_serde, history_ms, source.where
        )
        node = TableSource(
            name=draft.name("KTABLE-SOURCE", name),
            parents=(source.name,),
            where=source.where,
            store=None if store is None and history_ms is None else latent,
        )
        draft.add(node, latent)
        return KTable(draft, node.name, source.key_serde, source.value_serde, (topic,))

    def global_table(
        self,
        topic: str,
        *,
        key: Serde[K] | None = None,
        value: Serde[V] | None = None,
        timestamp: Rule | str | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> GlobalKTable[K, V]:
        """A whole topic that every task can read, for joins on any key."""
        draft = self._draft
        keys: Serde = key or draft.key_serde
        values: Serde = value or draft.value_serde
        store_name = store or draft.name(f"{topic}-STATE-STORE")
        spec = StoreSpec(
            store_name, StoreKind.KEY_VALUE, keys, values, logged=False, queryable=store is not None
        )
        node = GlobalTable(
            name=draft.name("KTABLE-GLOBAL", name),
            where=draft.here(),
            topic=topic,
            key_serde=keys,
            value_serde=values,
            store=spec,
            timestamp=_time_rule(timestamp),
        )
        draft.add(node)
        return GlobalKTable(draft, node.name, keys, values, store_name)

    def add_store(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        window_ms: int | None = None,
        retention_ms: int = 0,
        history_ms: int | None = None,
        sessions: bool = False,
    ) -> str:
        """A state store for processors: by key, with `window_ms` by key and window start, with `history_ms` by key and
        time, with `sessions` by key and session. Sessions and windows are kept for `retention_ms`. Returns its name."""
        draft, where = self._draft, self._draft.here()
        check_name("store", name, where)
        made = {store.name: node.where for node in draft.nodes.values() for store in node.stores()}
        before = draft.user_stores[name][1] if name in draft.user_stores else made.get(name)
        if before is not None:
            raise ConfigError(
                f"{where}: the store {name!r} was made before, at {before}; give one of them another name"
            )
        keys, values = key or draft.key_serde, value or draft.value_serde
        if window_ms is not None and history_ms is not None:
            raise ConfigError(f"{where}: the store {name!r} can have windows or a history, not both")
        if sessions and not (window_ms is None and history_ms is None):
            raise ConfigError(
                f"{where}: the store {name!r} can have windows, sessions or a history: one of them"
            )
        if sessions:
            if retention_ms <= 0:
                raise ConfigError(f"{where}: the sessions of the store {name!r} need a retention_ms=")
            spec = StoreSpec(name, StoreKind.SESSION, keys, values, retention_ms, queryable=True)
        elif window_ms is None:
            spec = draft.table_store(name, "", keys, values, history_ms, where)
        elif window_ms <= 0:
            raise ConfigError(
                f"{where}: the windows of the store {name!r} must be longer than {window_ms} ms"
            )
        else:
            retention_ms = max(retention_ms, window_ms)
            spec = StoreSpec(name, StoreKind.WINDOW, keys, values, retention_ms, window_ms, queryable=True)
        draft.user_stores[name] = (spec, where)
        return name

    def build(
        self,
        partitions: Mapping[str, int] | None = None,
        *,
        guarantee: Guarantee | str = Guarantee.EXACTLY_ONCE,
        error_handlers: ErrorHandlers | None = None,
    ) -> Topology:
        """The finished topology. With the partition counts of its source topics it also checks the joins.
        `error_handlers`: what happens to records that cannot be read, processed or written."""
        draft = self._draft
        if not draft.nodes:
            raise ConfigError(
                f"{draft.here()}: the topology is empty: start with stream(), table() or global_table()"
            )
        topology = Topology(
            nodes=tuple(self._with_stores()),
            repartition_topics=tuple(draft.repartition_topics),
            copartitioned=tuple(topics for topics, _ in draft.copartitioned),
            copartitioned_at=tuple(where for _, where in draft.copartitioned),
            guarantee=_one_of(Guarantee, guarantee, "guarantee", draft.here()),
            application_id=draft.application_id,
            error_handlers=error_handlers,
        )
        read = topology.with_topics(partitions) if partitions and topology.patterns else topology
        for topic in partitions or {}:
            if topic not in read.source_topics:
                hint = near(topic, read.source_topics, "leave it out")
                raise ConfigError(
                    f"{draft.here()}: build() is given the partitions of {topic!r}, which is not read; {hint}"
                )
        settle_partitions(read, partitions or {})
        return topology

    def _source(
        self,
        topics: tuple[str, ...],
        key: Serde | None,
        value: Serde | None,
        timestamp: Rule | str | None,
        offset_reset: OffsetReset,
        name: str | None,
        pattern: str = "",
    ) -> Source:
        draft, where = self._draft, self._draft.here()
        if not topics or not all(topics):
            raise ConfigError(f"{where}: a source needs the name of at least one topic")
        return draft.add(
            Source(
                name=draft.name("KSTREAM-SOURCE", name),
                where=where,
                topics=topics,
                pattern=pattern,
                key_serde=key or draft.key_serde,
                value_serde=value or draft.value_serde,
                timestamp=_time_rule(timestamp),
                offset_reset=offset_reset,
            )
        )

    def _with_stores(self) -> list[Node]:
        """Adds each store of the user to the first node that uses it. Rejects unknown names."""
        draft = self._draft
        made = {store.name for node in draft.nodes.values() for store in node.stores()}
        owned: set[str] = set()
        nodes: list[Node] = []
        for node in draft.nodes.values():
            if isinstance(node, Process | TableTransformValues):
                for name in node.uses:
                    if name not in made and name not in draft.user_stores:
                        raise ConfigError(_unknown_store(node, name, made | draft.user_stores.keys()))
                fresh = [
                    name
                    for name in dict.fromkeys(node.uses)
                    if name in draft.user_stores and name not in owned
                ]
                owned.update(fresh)
                node = replace(node, owns=tuple(draft.user_stores[name][0] for name in fresh))
            nodes.append(node)
        for name, (_, where) in draft.user_stores.items():
            if name not in owned:
                raise ConfigError(
                    f"{where}: no processor uses the store {name!r}; name it in stores=[...] of process()"
                )
        return nodes


def _time_rule(given: Rule | str | None) -> Rule | None:
    from moldau.pipeline.plan.expressions import col

    return col(given) if isinstance(given, str) else given


def _one_of(kind: type[E], given: E | str, what: str, where: Location) -> E:
    try:
        return kind(given)
    except ValueError:
        choices = ", ".join(repr(str(one)) for one in kind)
        raise ConfigError(f"{where}: {what} cannot be {given!r}; it is one of {choices}") from None


def near(name: str, known: Iterable[str], otherwise: str) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def _unknown_store(node: Node, name: str, known: set[str]) -> str:
    hint = near(name, known, "add it with add_store()")
    return f"{node.where}: {node.name} uses the store {name!r}, which does not exist; {hint}"
