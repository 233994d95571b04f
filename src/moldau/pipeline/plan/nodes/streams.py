"""Nodes of streams: where records come from and go to, what is done to each of them without state, and the processors
of the user."""

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
    """In the place of a topic's name, for those a pattern will name; no topic is called that."""
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
    """A regular expression that names the topics: `Topology.with_topics` puts those there are in the place of
    `topics`, which has `unresolved(pattern)` until then."""
    label: ClassVar[str] = "source"


@dataclass(frozen=True, kw_only=True)
class Sink(Node):
    """Writes to one topic, or to the topic that `topic_of(key, value, context)` names."""

    topic: str | None
    key_serde: Serde
    value_serde: Serde
    topic_of: Function | None = None
    partition_of: Function | None = None
    """(topic, key, value) -> partition; None: as Kafka's default partitioner."""
    label: ClassVar[str] = "sink"


@dataclass(frozen=True, slots=True)
class RepartitionTopic:
    """A topic between two sub-topologies, owned by the application. `partitions` 0: as many as its inputs have."""

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
    """`mapper(key, value)` gives (key, value)."""

    mapper: Rule
    label: ClassVar[str] = "map"


@dataclass(frozen=True, kw_only=True)
class MapValues(Node):
    mapper: Rule
    with_key: bool = False
    label: ClassVar[str] = "map-values"


@dataclass(frozen=True, kw_only=True)
class FlatMap(Node):
    """`mapper(key, value)` gives any number of (key, value)."""

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
    """Calls `action(key, value)`; a peek that nothing follows is a foreach."""

    action: Function
    label: ClassVar[str] = "peek"


@dataclass(frozen=True, kw_only=True)
class Split(Node):
    """Each record goes to the first arm whose predicate holds, or to the default arm (the last, predicate None)."""

    predicates: tuple[Rule | None, ...]
    label: ClassVar[str] = "split"


@dataclass(frozen=True, kw_only=True)
class Arm(Node):
    """One way out of a split."""

    index: int
    label: ClassVar[str] = "arm"


@dataclass(frozen=True, kw_only=True)
class Merge(Node):
    label: ClassVar[str] = "merge"


# The user's own processors


@dataclass(frozen=True, kw_only=True)
class Process(Node):
    """`supplier()` makes a processor for each task. `values_only`: its key may not change (KIP-820)."""

    supplier: Function
    uses: tuple[str, ...] = ()
    values_only: bool = False
    owns: tuple[StoreSpec, ...] = ()
    """Stores first connected here."""
    label: ClassVar[str] = "process"

    def stores(self) -> tuple[StoreSpec, ...]:
        return self.owns

    def store_names(self) -> tuple[str, ...]:
        return self.uses
