"""A complete topology: its nodes in the order of their creation, divided at repartition topics into sub-topologies.

Pure and frozen. A topology may have several statements: `statements` says which one a node belongs to. Unconnected
parts are further sub-topologies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.handlers import ErrorHandlers
from moldau.pipeline.plan.location import NOWHERE, Location
from moldau.pipeline.plan.nodes import (
    GlobalTable,
    Node,
    RepartitionTopic,
    Sink,
    Source,
    StreamGlobalJoin,
    Transform,
    transforms_of,
    unresolved,
)
from moldau.pipeline.plan.stores import StoreSpec


class Guarantee(StrEnum):
    EXACTLY_ONCE = "exactly_once"
    AT_LEAST_ONCE = "at_least_once"


@dataclass(frozen=True)
class SubTopology:
    """Nodes of one task, connected by edges or stores. The source topics must be co-partitioned."""

    index: int
    nodes: tuple[Node, ...]

    @cached_property
    def source_topics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(topic for node in self.sources() for topic in node.topics))

    @cached_property
    def sink_topics(self) -> tuple[str, ...]:
        named = (node.topic for node in self.nodes if isinstance(node, Sink))
        return tuple(dict.fromkeys(topic for topic in named if topic))

    @cached_property
    def stores(self) -> tuple[StoreSpec, ...]:
        owned = {store.name: store for node in self.nodes for store in node.stores()}
        return tuple(owned.values())

    @property
    def is_stateful(self) -> bool:
        return bool(self.stores)

    def sources(self) -> Iterator[Source]:
        return (node for node in self.nodes if isinstance(node, Source))

    @cached_property
    def transform(self) -> Transform | None:
        """The function of DataFrames that the driver runs in the place of tasks."""
        return next(iter(transforms_of(self.nodes)), None)


@dataclass(frozen=True)
class Topology:
    nodes: tuple[Node, ...]
    repartition_topics: tuple[RepartitionTopic, ...] = ()
    copartitioned: tuple[tuple[str, ...], ...] = ()
    """Groups of source topics that need the same number of partitions, because of joins."""
    copartitioned_at: tuple[Location, ...] = ()
    """The user's lines with these joins."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """Node name to the statement (of SQL, of a connector) it belongs to."""
    guarantee: Guarantee = Guarantee.EXACTLY_ONCE
    error_handlers: ErrorHandlers | None = None
    """None: as the application's start options say."""
    application_id: str = ""
    """The prefix of internal topics. The names in `repartition_topics` have it already."""
    latest_from: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Where sources begin that read from the latest record: the offset of each partition, by topic. Those that are
    not here begin at the end of their topic when the application is prepared."""

    def __getitem__(self, name: str) -> Node:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def global_tables(self) -> tuple[GlobalTable, ...]:
        return tuple(node for node in self.nodes if isinstance(node, GlobalTable))

    @cached_property
    def sub_topologies(self) -> tuple[SubTopology, ...]:
        """In the order of their first nodes. Global tables belong to none of them."""
        groups = _connected([node for node in self.nodes if not isinstance(node, GlobalTable)])
        return tuple(SubTopology(index, tuple(nodes)) for index, nodes in enumerate(groups))

    @cached_property
    def whole(self) -> SubTopology:
        """The whole topology as one, for a host that runs it in one task (the test driver)."""
        return SubTopology(0, tuple(node for node in self.nodes if not isinstance(node, GlobalTable)))

    @cached_property
    def transform_parts(self) -> tuple[SubTopology, ...]:
        """The sub-topologies that are functions of DataFrames."""
        return tuple(part for part in self.sub_topologies if part.transform is not None)

    @cached_property
    def internal_topics(self) -> frozenset[str]:
        return frozenset(topic.name for topic in self.repartition_topics)

    @cached_property
    def source_topics(self) -> tuple[str, ...]:
        """The user's topics that this topology reads, including those of global tables."""
        read = [topic for part in self.sub_topologies for topic in part.source_topics]
        read += [table.topic for table in self.global_tables]
        return tuple(topic for topic in dict.fromkeys(read) if topic not in self.internal_topics)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of sources that are not resolved yet, see `with_topics`."""
        return tuple(
            dict.fromkeys(
                node.pattern
                for node in self.nodes
                if isinstance(node, Source) and unresolved(node.pattern) in node.topics
            )
        )

    def with_topics(self, existing: Iterable[str]) -> "Topology":
        """Replaces the patterns by the existing topics that match them completely, without internal ones. Raises
        ConfigError if a pattern matches nothing."""
        found: dict[str, tuple[str, ...]] = {}
        candidates = sorted(set(existing) - self.internal_topics)
        for pattern in self.patterns:
            names = tuple(topic for topic in candidates if re.fullmatch(pattern, topic))
            if not names:
                where = self.where_read(unresolved(pattern))
                raise ConfigError(f"{where}: no existing topic matches the pattern {pattern!r}")
            found[unresolved(pattern)] = names
        return replace(
            self,
            nodes=tuple(
                replace(node, topics=_named(node.topics, found)) if isinstance(node, Source) else node
                for node in self.nodes
            ),
            copartitioned=tuple(_named(group, found) for group in self.copartitioned),
        )

    def where_read(self, topic: str) -> Location:
        """The line of the user that reads a topic."""
        for node in self.nodes:
            match node:
                case Source(topics=topics) if topic in topics:
                    return node.where
                case GlobalTable(topic=name) if name == topic:
                    return node.where
        return NOWHERE

    @cached_property
    def stores(self) -> Mapping[str, StoreSpec]:
        return {store.name: store for node in self.nodes for store in node.stores()}

    def globals_of(self, part: SubTopology) -> tuple[GlobalTable, ...]:
        """The global tables that this sub-topology uses. A processor of the user may use all of them."""
        from moldau.pipeline.plan.nodes import Process

        if any(isinstance(node, Process) and node.uses for node in part.nodes):
            return self.global_tables
        used = {node.table for node in part.nodes if isinstance(node, StreamGlobalJoin)}
        return tuple(table for table in self.global_tables if table.name in used)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal operators, names, serdes and windows: then the state of one topology fits the other."""
        from moldau.pipeline.plan.describe import fingerprint

        return fingerprint(self)

    def describe(self) -> str:
        from moldau.pipeline.plan.describe import text

        return text(self)

    def graph(self, language: str = "mermaid") -> str:
        """The graph as `mermaid` or `dot` source."""
        from moldau.pipeline.plan.describe import dot, mermaid

        return dot(self) if language == "dot" else mermaid(self)


def _named(topics: tuple[str, ...], found: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for topic in topics for name in found.get(topic, (topic,))))


def _connected(nodes: Iterable[Node]) -> list[list[Node]]:
    """Groups of nodes that are connected by edges, table lookups or shared stores."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        leader.setdefault(name, name)
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    nodes = list(nodes)
    for node in nodes:
        ties = [*node.parents, *(f"store {store}" for store in node.store_names())]
        table = getattr(node, "table", None)
        if table is not None and not isinstance(node, StreamGlobalJoin):
            ties.append(table)
        if isinstance(node, Source):
            ties += [f"topic {topic}" for topic in node.topics]
        for tie in ties:
            leader[find(tie)] = find(node.name)
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(find(node.name), []).append(node)
    return list(groups.values())
