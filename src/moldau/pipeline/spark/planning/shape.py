"""What the planner must know about a topology: which topics belong together, in which order, and with which delay.

The sub-topologies form levels. Those of level 0 only read topics of the user. A sub-topology that reads a repartition
topic is one level below its writer, and reads in the next batch what the writer writes in this one. For a join in level
2 to get records of the same time on both sides, its other topics are read two batches later than those of level 0. So
each topic has a delay in batches.
"""

from dataclasses import dataclass
from typing import Self

from moldau.pipeline.plan.nodes import Sink, TableSource
from moldau.pipeline.plan.topology import SubTopology, Topology


@dataclass(frozen=True)
class InputTopic:
    """A topic as an input of a sub-topology."""

    topic: str
    part: int
    delay: int
    """In batches, after the topics of level 0. For an internal topic, after the batch that follows its writer's."""
    is_internal: bool


@dataclass(frozen=True)
class Shape:
    topics: tuple[InputTopic, ...]
    """In the order for records of equal timestamps: tables first, then as the topology names them."""
    needs_time: bool
    """Whether the order of time across partitions matters. It does not if every task reads one topic and writes to no
    other: such a task gets the same result however its partition is divided into batches."""

    @classmethod
    def of(cls, topology: Topology) -> Self:
        parts = topology.sub_topologies
        written = _writers(topology)
        levels = _levels(topology, written)
        places = []
        for part in parts:
            for topic in _tables_first(part):
                is_internal = topic in topology.internal_topics
                if is_internal:
                    after = max((levels[writer] for writer in written.get(topic, ())), default=-1)
                    delay = max(0, levels[part.index] - after - 1)
                else:
                    delay = levels[part.index]
                places.append(InputTopic(topic, part.index, delay, is_internal))
        needs_time = bool(topology.internal_topics) or any(len(part.source_topics) > 1 for part in parts)
        return cls(tuple(sorted(places, key=lambda place: place.is_internal)), needs_time)


def _writers(topology: Topology) -> dict[str, set[int]]:
    written: dict[str, set[int]] = {}
    for part in topology.sub_topologies:
        for node in part.nodes:
            if isinstance(node, Sink) and node.topic in topology.internal_topics:
                written.setdefault(node.topic or "", set()).add(part.index)
    return written


def _levels(topology: Topology, written: dict[str, set[int]]) -> list[int]:
    """The longest path to each sub-topology through internal topics. In a cycle (a foreign-key join sends its answers
    back), the edge that closes it does not count."""
    readers: dict[int, set[int]] = {part.index: set() for part in topology.sub_topologies}
    for part in topology.sub_topologies:
        for topic in part.source_topics:
            for writer in written.get(topic, ()):
                readers[writer].add(part.index)
    in_order = _from_first_to_last(readers)
    levels = [0] * len(readers)
    for turn, writer in enumerate(in_order):
        for reader in readers[writer].intersection(in_order[turn + 1 :]):
            levels[reader] = max(levels[reader], levels[writer] + 1)
    return levels


def _from_first_to_last(readers: dict[int, set[int]]) -> list[int]:
    """Writers before their readers, except for edges that close a cycle."""
    last_first: list[int] = []
    seen: set[int] = set()

    def visit(part: int) -> None:
        seen.add(part)
        for reader in sorted(readers[part]):
            if reader not in seen:
                visit(reader)
        last_first.append(part)

    for part in sorted(readers):
        if part not in seen:
            visit(part)
    return last_first[::-1]


def _tables_first(part: SubTopology) -> list[str]:
    tables = set(_table_sources(part))
    first = [topic for source in part.sources() if source.name in tables for topic in source.topics]
    return list(dict.fromkeys([*first, *part.source_topics]))


def _table_sources(part: SubTopology) -> list[str]:
    parents = {parent for node in part.nodes if isinstance(node, TableSource) for parent in node.parents}
    return [source.name for source in part.sources() if source.name in parents]
