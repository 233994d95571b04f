"""Nodes of streams: sources and sinks, stateless operators, processors of the user."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from moldau.pipeline.plan.nodes.node import Function, Node, Rule
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.serdes.serde import Serde


class OffsetReset(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"


def unresolved(pattern: str) -> str:
    """A placeholder for the topics that match a pattern. No topic can have this name."""
    return f"/{pattern}/"


@dataclass(frozen=True, kw_only=True)
class Source(Node):
    """Records of one or more topics. `timestamp` takes (record value, record timestamp) or is a column expression."""

    topics: tuple[str, ...]
    key_serde: Serde
    value_serde: Serde
    timestamp: Rule | None = None
    offset_reset: OffsetReset = OffsetReset.EARLIEST
    pattern: str = ""
    """A regular expression for the topics. `topics` has `unresolved(pattern)` until `Topology.with_topics` replaces it
    by the existing ones."""
    label: ClassVar[str] = "source"


@dataclass(frozen=True, kw_only=True)
class Sink(Node):
    """Writes to one topic, or to the topic that `topic_of(key, value, context)` returns."""

    topic: str | None
    key_serde: Serde
    value_serde: Serde
    topic_of: Function | None = None
    partition_of: Function | None = None
    """(topic, key, value) -> partition. None: Kafka's default partitioner."""
    label: ClassVar[str] = "sink"


@dataclass(frozen=True, slots=True)
class RepartitionTopic:
    """An internal topic between two sub-topologies. `partitions` 0: as many as its inputs have."""

    name: str
    partitions: int = 0


# Stream to stream, without state


@dataclass(frozen=True, kw_only=True)
class Filter(Node):
    predicate: Rule
    negate: bool = False
    label: ClassVar[str] = "filter"


def has_key(key: object, value: object) -> bool:
    """The predicate of the filter before a repartition topic: records without a key have no partition."""
    return key is not None


@dataclass(frozen=True, kw_only=True)
class Map(Node):
    """`mapper(key, value)` returns (key, value)."""

    mapper: Rule
    label: ClassVar[str] = "map"


@dataclass(frozen=True, kw_only=True)
class MapValues(Node):
    mapper: Rule
    with_key: bool = False
    label: ClassVar[str] = "map-values"


@dataclass(frozen=True, kw_only=True)
class FlatMap(Node):
    """`mapper(key, value)` returns any number of (key, value)."""

    mapper: Function
    label: ClassVar[str] = "flat-map"


@dataclass(frozen=True, kw_only=True)
class FlatMapValues(Node):
    mapper: Function
    with_key: bool = False
    label: ClassVar[str] = "flat-map-values"


@dataclass(frozen=True, kw_only=True)
class SelectKey(Node):
    mapper: Rule
    label: ClassVar[str] = "select-key"


@dataclass(frozen=True, kw_only=True)
class Peek(Node):
    """Calls `action(key, value)`. A peek without children is a foreach."""

    action: Function
    label: ClassVar[str] = "peek"


@dataclass(frozen=True, kw_only=True)
class Split(Node):
    """Each record goes to the first arm whose predicate is true, or to the default arm (the last, predicate None)."""

    predicates: tuple[Rule | None, ...]
    label: ClassVar[str] = "split"


@dataclass(frozen=True, kw_only=True)
class Arm(Node):
    """One branch of a split."""

    index: int
    label: ClassVar[str] = "arm"


@dataclass(frozen=True, kw_only=True)
class Merge(Node):
    label: ClassVar[str] = "merge"


# The user's own processors


@dataclass(frozen=True, kw_only=True)
class Process(Node):
    """`supplier()` creates a processor for each task. `values_only`: it may not change the key (KIP-820)."""

    supplier: Function
    uses: tuple[str, ...] = ()
    values_only: bool = False
    owns: tuple[StoreSpec, ...] = ()
    """The stores that this node is the first to use."""
    label: ClassVar[str] = "process"

    def stores(self) -> tuple[StoreSpec, ...]:
        return self.owns

    def store_names(self) -> tuple[str, ...]:
        return self.uses
