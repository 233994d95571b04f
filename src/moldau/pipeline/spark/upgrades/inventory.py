"""The inventory of a topology, as plain data: its stores, its internal topics, the topics that its sub-topologies read.

The checkpoint has the inventory of the topology that made it, and the inventory of a changed topology is compared with
it. Functions of the user are not part of it: a new filter or mapper changes nothing here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from moldau.pipeline.plan.nodes import Node, Process, Sink, Source, TableTransformValues
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.plan.topology import SubTopology, Topology

Shape = Mapping[str, str]
"""Aspect to value, both in words for people. Bytes written under one shape can be read under an equal one."""


@dataclass(frozen=True)
class StoreFacts:
    name: str
    shape: Shape
    nodes: tuple[str, ...]
    """The nodes that own it. The stream times that they keep belong to it."""
    origin: tuple[str, ...]
    """The user's topics that its content comes from."""
    named: bool
    """Whether the user named it."""


@dataclass(frozen=True)
class TopicShape:
    """An internal topic."""

    name: str
    shape: Shape
    origin: tuple[str, ...]


@dataclass(frozen=True)
class PartFacts:
    """A sub-topology."""

    topics: tuple[str, ...]
    stores: tuple[str, ...]
    keeps_state: bool


@dataclass(frozen=True)
class ProcessorFacts:
    """A processor without stores of its own may still have timers."""

    name: str
    origin: tuple[str, ...]


@dataclass(frozen=True)
class Inventory:
    stores: Mapping[str, StoreFacts]
    topics: Mapping[str, TopicShape]
    parts: tuple[PartFacts, ...]
    processors: tuple[ProcessorFacts, ...]

    @classmethod
    def of(cls, topology: Topology) -> Self:
        origins = Origins(topology)
        return cls(
            {store.name: store for store in _stores(topology, origins)},
            {topic.name: topic for topic in _topics(topology, origins)},
            tuple(
                PartFacts(part.source_topics, tuple(one.name for one in part.stores), keeps_state(part))
                for part in topology.sub_topologies
            ),
            tuple(
                ProcessorFacts(node.name, origins.of(node))
                for node in topology.nodes
                if isinstance(node, Process) and not node.stores()
            ),
        )

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        def tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
            return {
                name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
            }

        return cls(
            {name: StoreFacts(**tuples(one)) for name, one in found["stores"].items()},
            {name: TopicShape(**tuples(one)) for name, one in found["topics"].items()},
            tuple(PartFacts(**tuples(one)) for one in found["parts"]),
            tuple(ProcessorFacts(**tuples(one)) for one in found["processors"]),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def source_topics(self) -> tuple[str, ...]:
        """All topics that its tasks read, internal ones included."""
        return tuple(dict.fromkeys(topic for part in self.parts for topic in part.topics))

    def part_of(self, store: str) -> int | None:
        return next((number for number, part in enumerate(self.parts) if store in part.stores), None)


def keeps_state(part: SubTopology) -> bool:
    """Processors of the user may depend on stream time, which is state too."""
    return part.is_stateful or any(isinstance(node, Process) for node in part.nodes)


class Origins:
    """The user's topics above each node, through the topics of the application."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._writers: dict[str, list[Node]] = {}
        for node in topology.nodes:
            if isinstance(node, Sink) and node.topic in topology.internal_topics:
                self._writers.setdefault(node.topic or "", []).append(node)

    def of(self, node: Node) -> tuple[str, ...]:
        found: set[str] = set()
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one.name in seen:
                continue
            seen.add(one.name)
            waiting += [self._topology[parent] for parent in one.parents if parent in self._topology]
            for topic in one.topics if isinstance(one, Source) else ():
                if topic in self._topology.internal_topics:
                    waiting += self._writers.get(topic, [])
                else:
                    found.add(topic)
        return tuple(sorted(found))

    def of_topic(self, topic: str) -> tuple[str, ...]:
        return tuple(sorted({one for writer in self._writers.get(topic, []) for one in self.of(writer)}))


def _stores(topology: Topology, origins: Origins) -> Iterator[StoreFacts]:
    for part in topology.sub_topologies:
        for spec in part.stores:
            owners = [node for node in part.nodes if spec.name in {one.name for one in node.stores()}]
            yield StoreFacts(
                spec.name,
                _store_shape(owners[0], spec),
                tuple(node.name for node in owners),
                tuple(sorted({topic for node in owners for topic in origins.of(node)})),
                spec.queryable,
            )


def _store_shape(owner: Node, spec: StoreSpec) -> Shape:
    is_users = isinstance(owner, Process | TableTransformValues)
    shape = {
        "operator": "processor" if is_users else owner.label,
        "store": str(spec.kind),
        "keys": repr(spec.key_serde),
        "values": repr(spec.value_serde),
        "kept for": f"{spec.retention_ms} ms" if spec.retention_ms else "",
        "window size": f"{spec.window_size_ms} ms" if spec.window_size_ms else "",
        "windows": str(getattr(owner, "windows", "") or ""),
        "summary": str(getattr(owner, "summary", "") or ""),
        "summary of": str(getattr(owner, "column", "") or ""),
    }
    return {aspect: value for aspect, value in shape.items() if value}


def _topics(topology: Topology, origins: Origins) -> Iterator[TopicShape]:
    for topic in topology.repartition_topics:
        readers = [node for node in topology.nodes if isinstance(node, Source) and topic.name in node.topics]
        shape = {
            "keys": ", ".join(sorted({repr(node.key_serde) for node in readers})),
            "values": ", ".join(sorted({repr(node.value_serde) for node in readers})),
        }
        yield TopicShape(topic.name, shape, origins.of_topic(topic.name))
