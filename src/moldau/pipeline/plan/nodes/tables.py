"""Nodes of tables: their sources, and the operators of one table."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from moldau.pipeline.plan.nodes.node import Function, Node, Rule, StoringNode
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.serde import Serde


@dataclass(frozen=True, kw_only=True)
class TableNode(Node):
    """A table. It has a store if the user asked for one or another node needs it."""

    store: StoreSpec | None = None
    send_old_values: bool = False

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,) if self.store else ()


@dataclass(frozen=True, kw_only=True)
class TableSource(TableNode):
    """The stream of its one parent as a table: the last value of each key. Has no store if no node needs one."""

    label: ClassVar[str] = "table"


@dataclass(frozen=True, kw_only=True)
class GlobalTable(StoringNode):
    """A whole topic, with every partition, in every task. `Task.apply_global` adds its records."""

    topic: str
    key_serde: Serde
    value_serde: Serde
    timestamp: Rule | None = None
    label: ClassVar[str] = "global-table"

    def store_names(self) -> tuple[str, ...]:
        return ()


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
    """`supplier()` creates a transformer with `transform(key, value)`, which may use stores."""

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
    """The changes of a table as records of the new values. `mapper(key, value)` returns another key."""

    mapper: Function | None = None
    label: ClassVar[str] = "to-stream"


@dataclass(frozen=True, kw_only=True)
class TableGroup(Node):
    """Regroups a table: `mapper(key, value)` returns (key, value). Emits records whose values are changes (new, old),
    for a repartition topic."""

    mapper: Function
    label: ClassVar[str] = "group-table"


@dataclass(frozen=True, kw_only=True)
class TableAggregate(StoringNode):
    """Aggregates a regrouped table: for each change (a record of a repartition topic), subtracts the old value and adds
    the new one.

    With `initializer` None it is a reduce: `adder(aggregate, value)`, `subtractor(aggregate, value)`.
    """

    initializer: Function | None
    adder: Function
    subtractor: Function
    send_old_values: bool = False
    label: ClassVar[str] = "table-aggregate"


@dataclass(frozen=True, kw_only=True)
class Suppress(StoringNode):
    """Holds changes back: until their window closes (`until_ms` None), or for `until_ms` of stream time."""

    until_ms: int | None
    grace_ms: int = 0
    records_max: int | None = None
    bytes_max: int | None = None
    when_full: str = "emit"
    """What a full buffer does: `emit` early, or `fail`."""
    send_old_values: bool = False
    label: ClassVar[str] = "suppress"


def history_of(table: str, nodes: "Nodes") -> int | None:
    """How many milliseconds back a table can be read, from its versioned store or its parent's. None: it only has
    current values."""
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
