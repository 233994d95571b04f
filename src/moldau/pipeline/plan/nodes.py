"""The nodes of a topology: what each operator does, as frozen data.

A node names its parents; a node with several inputs (merge, joins) takes them in the order of `parents`. Functions of
the user are fields; so are column expressions, which a host may compile to something faster than Python.
A *stream* edge carries records; a *table* edge carries changes (new and old value of a key).
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import NOWHERE, Location
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import JoinWindows, SessionWindows, SlidingWindows, TimeWindows
from moldau.pipeline.serdes.serde import Serde

Function = Callable[..., Any]
Rule = Function | Expression
"""A function of the user, or a column expression over the record."""


class JoinKind(StrEnum):
    INNER = "inner"
    LEFT = "left"
    OUTER = "outer"


class OffsetReset(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, kw_only=True)
class Node:
    """`where` is the user's line that made the node: errors name it; it is no part of what the node is."""

    name: str
    parents: tuple[str, ...] = ()
    where: Location = NOWHERE
    label: ClassVar[str] = "node"

    def stores(self) -> tuple[StoreSpec, ...]:
        """Stores this node owns."""
        return ()

    def store_names(self) -> tuple[str, ...]:
        """Stores this node uses, its own and others': nodes that share a store share a task."""
        return tuple(store.name for store in self.stores())


# Sources and sinks


@dataclass(frozen=True, kw_only=True)
class Source(Node):
    """Records of one or more topics. `timestamp` takes (record value, record timestamp) or is a column expression."""

    topics: tuple[str, ...]
    key_serde: Serde
    value_serde: Serde
    timestamp: Rule | None = None
    offset_reset: OffsetReset = OffsetReset.EARLIEST
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


# Stream to table: aggregation


class EmitWhen(StrEnum):
    UPDATE = "on update"
    CLOSE = "on window close"


@dataclass(frozen=True, kw_only=True)
class Aggregate(Node):
    """A grouped stream folded into a table: `adder(key, value, aggregate)`; with `initializer` None it is a reduce,
    `adder(aggregate, value)`, whose first value starts it. `summary` names a known aggregate (count, sum...)
    which a host may compute natively; `column` is what it takes."""

    initializer: Function | None
    adder: Function
    store: StoreSpec
    send_old_values: bool = False
    summary: str = ""
    column: Expression | None = None
    label: ClassVar[str] = "aggregate"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)


@dataclass(frozen=True, kw_only=True)
class WindowAggregate(Aggregate):
    windows: TimeWindows | SlidingWindows
    emit: EmitWhen = EmitWhen.UPDATE
    label: ClassVar[str] = "window-aggregate"


@dataclass(frozen=True, kw_only=True)
class SessionAggregate(Aggregate):
    """`merger(key, one, other)` joins two sessions; None for a reduce, whose adder does it."""

    windows: SessionWindows
    merger: Function | None
    emit: EmitWhen = EmitWhen.UPDATE
    label: ClassVar[str] = "session-aggregate"


# Tables


@dataclass(frozen=True, kw_only=True)
class TableSource(Node):
    """The stream of its one parent read as a table: the last value of each key. Without a store when none needs one."""

    store: StoreSpec | None
    send_old_values: bool = False
    label: ClassVar[str] = "table"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,) if self.store else ()


@dataclass(frozen=True, kw_only=True)
class GlobalTable(Node):
    """A whole topic, every partition of it, in every task. Its records come by `Task.apply_global`."""

    topic: str
    key_serde: Serde
    value_serde: Serde
    store: StoreSpec
    timestamp: Rule | None = None
    label: ClassVar[str] = "global-table"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)

    def store_names(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, kw_only=True)
class TableNode(Node):
    """A table made from a table; with a store when the user asked for one or a neighbour needs it."""

    store: StoreSpec | None = None
    send_old_values: bool = False

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,) if self.store else ()


@dataclass(frozen=True, kw_only=True)
class TableFilter(TableNode):
    predicate: Rule
    negate: bool = False
    label: ClassVar[str] = "table-filter"


@dataclass(frozen=True, kw_only=True)
class TableMapValues(TableNode):
    mapper: Rule
    with_key: bool = False
    label: ClassVar[str] = "table-map-values"


@dataclass(frozen=True, kw_only=True)
class TableTransformValues(TableNode):
    """`supplier()` makes a transformer with `transform(key, value)`; it may use stores."""

    supplier: Function
    uses: tuple[str, ...] = ()
    owns: tuple[StoreSpec, ...] = ()
    label: ClassVar[str] = "table-transform-values"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (*super().stores(), *self.owns)

    def store_names(self) -> tuple[str, ...]:
        return (*super().store_names(), *self.uses)


@dataclass(frozen=True, kw_only=True)
class TableMerge(Node):
    """Several aggregates that share one store (cogroup) as one table."""

    store: StoreSpec
    label: ClassVar[str] = "table-merge"

    def store_names(self) -> tuple[str, ...]:
        return (self.store.name,)


@dataclass(frozen=True, kw_only=True)
class TableToStream(Node):
    """A table's changes as records of their new values; `mapper(key, value)` gives another key."""

    mapper: Function | None = None
    label: ClassVar[str] = "to-stream"


@dataclass(frozen=True, kw_only=True)
class TableGroup(Node):
    """A table regrouped: `mapper(key, value)` gives (key, value). Gives records whose values are
    changes (new, old), on their way to a repartition topic."""

    mapper: Function
    label: ClassVar[str] = "group-table"


@dataclass(frozen=True, kw_only=True)
class TableAggregate(Node):
    """A grouped table folded again: of each change (a record of a repartition topic) the old value is subtracted, the
    new one added.

    With `initializer` None a reduce: `adder(aggregate, value)`, `subtractor(aggregate, value)`.
    """

    initializer: Function | None
    adder: Function
    subtractor: Function
    store: StoreSpec
    send_old_values: bool = False
    label: ClassVar[str] = "table-aggregate"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)


@dataclass(frozen=True, kw_only=True)
class Suppress(Node):
    """Holds changes back: until their window closes (`until_ms` None), or for `until_ms` of stream time."""

    store: StoreSpec
    until_ms: int | None
    grace_ms: int = 0
    records_max: int | None = None
    bytes_max: int | None = None
    when_full: str = "emit"
    """What a full buffer does: `emit` early, or `fail`."""
    send_old_values: bool = False
    label: ClassVar[str] = "suppress"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)


def history_of(table: str, nodes: "Nodes") -> int | None:
    """How many milliseconds back a table can be read, by its versioned store or that of the table it is made of; None:
    it has only its present."""
    node = nodes[table]
    if isinstance(node, TableSource):
        versioned = node.store is not None and node.store.kind is StoreKind.VERSIONED
        return node.store.retention_ms if node.store and versioned else None
    if isinstance(node, TableFilter | TableMapValues | TableTransformValues) and node.store is None:
        return history_of(node.parents[0], nodes)
    return None


class Nodes(Protocol):
    """Nodes by name."""

    def __getitem__(self, name: str, /) -> Node: ...


# Joins


@dataclass(frozen=True, kw_only=True)
class StreamJoin(Node):
    """Two streams, parents (left, right). `joiner(left, right)`, or `joiner(key, left, right)` with the key."""

    kind: JoinKind
    windows: JoinWindows
    joiner: Function
    with_key: bool
    left_store: StoreSpec
    right_store: StoreSpec
    outer_store: StoreSpec | None
    """Records still without a partner, kept until their window closes (left and outer joins)."""
    label: ClassVar[str] = "stream-join"

    def stores(self) -> tuple[StoreSpec, ...]:
        shared = (self.outer_store,) if self.outer_store else ()
        return (self.left_store, self.right_store, *shared)


@dataclass(frozen=True, kw_only=True)
class StreamTableJoin(Node):
    """A stream (the parent) looks up a table (a node of the same sub-topology). With a `buffer` its records wait there
    for `grace_ms` of stream time first (KIP-923)."""

    table: str
    kind: JoinKind
    joiner: Function
    with_key: bool
    grace_ms: int = 0
    buffer: StoreSpec | None = None
    label: ClassVar[str] = "stream-table-join"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.buffer,) if self.buffer else ()


@dataclass(frozen=True, kw_only=True)
class StreamGlobalJoin(Node):
    """A stream looks up a global table under the key `selector(key, value)`."""

    table: str
    kind: JoinKind
    selector: Rule
    joiner: Function
    with_key: bool
    label: ClassVar[str] = "stream-global-join"


@dataclass(frozen=True, kw_only=True)
class TableJoin(TableNode):
    """Two tables of the same key, parents (left, right)."""

    kind: JoinKind
    joiner: Function
    label: ClassVar[str] = "table-join"


# The four steps of a foreign-key join (KIP-213), two on each side of the topics between them


@dataclass(frozen=True, kw_only=True)
class ForeignKeySubscribe(Node):
    """On the left: tells the foreign key's partition that this row wants (or no longer wants) to hear of it."""

    extractor: Function
    kind: JoinKind
    left_value_serde: Serde
    foreign_key_serde: Serde
    label: ClassVar[str] = "foreign-key-subscribe"


@dataclass(frozen=True, kw_only=True)
class ForeignKeyAnswer(Node):
    """On the right: parents (subscriptions, right table). Keeps the subscriptions, answers them and every change."""

    table: str
    store: StoreSpec
    left_key_serde: Serde
    foreign_key_serde: Serde
    right_value_serde: Serde
    label: ClassVar[str] = "foreign-key-answer"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)


@dataclass(frozen=True, kw_only=True)
class ForeignKeyResolve(Node):
    """On the left again: drops answers to values that have changed since, joins the others."""

    table: str
    joiner: Function
    kind: JoinKind
    left_value_serde: Serde
    right_value_serde: Serde
    label: ClassVar[str] = "foreign-key-resolve"
