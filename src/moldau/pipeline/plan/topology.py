"""A whole topology: its nodes in the order they were made, cut at repartition topics into sub-topologies.

Pure and frozen. Several statements may live in one topology: each node may carry the statement it belongs to in
`statements`, and unconnected parts are simply further sub-topologies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
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
    unresolved,
)
from moldau.pipeline.plan.stores import StoreSpec


class Guarantee(StrEnum):
    EXACTLY_ONCE = "exactly_once"
    AT_LEAST_ONCE = "at_least_once"


@dataclass(frozen=True)
class SubTopology:
    """Nodes that share a task: connected by edges or by stores. Its source topics must be co-partitioned."""

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


@dataclass(frozen=True)
class Topology:
    nodes: tuple[Node, ...]
    repartition_topics: tuple[RepartitionTopic, ...] = ()
    copartitioned: tuple[tuple[str, ...], ...] = ()
    """Groups of source topics that joins need to have the same number of partitions."""
    copartitioned_at: tuple[Location, ...] = ()
    """The user's lines that need it."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """Node name to the statement (of SQL, of a connector) it belongs to."""
    guarantee: Guarantee = Guarantee.EXACTLY_ONCE
    error_handlers: ErrorHandlers | None = None
    """None: as the application is told when it is started."""
    application_id: str = ""
    """Prefix of the topics the application owns; `repartition_topics` have it already."""

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
        """In the order of their first node; global tables belong to none."""
        groups = _connected([node for node in self.nodes if not isinstance(node, GlobalTable)])
        return tuple(SubTopology(index, tuple(nodes)) for index, nodes in enumerate(groups))

    @cached_property
    def whole(self) -> SubTopology:
        """Everything as one, for a host that runs all of it in one task (the test driver)."""
        return SubTopology(0, tuple(node for node in self.nodes if not isinstance(node, GlobalTable)))

    @cached_property
    def internal_topics(self) -> frozenset[str]:
        return frozenset(topic.name for topic in self.repartition_topics)

    @cached_property
    def source_topics(self) -> tuple[str, ...]:
        """Topics of the user this topology reads, global ones included."""
        read = [topic for part in self.sub_topologies for topic in part.source_topics]
        read += [table.topic for table in self.global_tables]
        return tuple(topic for topic in dict.fromkeys(read) if topic not in self.internal_topics)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions that still name sources: see `with_topics`."""
        return tuple(
            dict.fromkeys(
                node.pattern
                for node in self.nodes
                if isinstance(node, Source) and unresolved(node.pattern) in node.topics
            )
        )

    def with_topics(self, existing: Iterable[str]) -> "Topology":
        """With the topics there are in place of the patterns that match them wholly; the application's own are none.
        Raises ConfigError where a pattern matches nothing."""
        found: dict[str, tuple[str, ...]] = {}
        candidates = sorted(set(existing) - self.internal_topics)
        for pattern in self.patterns:
            names = tuple(topic for topic in candidates if re.fullmatch(pattern, topic))
            if not names:
                where = self.where_read(unresolved(pattern))
                raise ConfigError(f"{where}: no topic there is matches the pattern {pattern!r}")
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
        """The user's line that reads a topic."""
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
        """The global tables this sub-topology looks into; a processor of the user may look into all of them."""
        from moldau.pipeline.plan.nodes import Process

        if any(isinstance(node, Process) and node.uses for node in part.nodes):
            return self.global_tables
        used = {node.table for node in part.nodes if isinstance(node, StreamGlobalJoin)}
        return tuple(table for table in self.global_tables if table.name in used)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same operators, names, serdes and windows: state of one fits the other."""
        from moldau.pipeline.plan.describe import fingerprint

        return fingerprint(self)

    def describe(self) -> str:
        from moldau.pipeline.plan.describe import text

        return text(self)

    def graph(self, language: str = "mermaid") -> str:
        """As `mermaid` or `dot` source."""
        from moldau.pipeline.plan.describe import dot, mermaid

        return dot(self) if language == "dot" else mermaid(self)


def _named(topics: tuple[str, ...], found: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for topic in topics for name in found.get(topic, (topic,))))


def _connected(nodes: Iterable[Node]) -> list[list[Node]]:
    """Groups of nodes joined by edges, by look-ups of tables or by shared stores."""
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
