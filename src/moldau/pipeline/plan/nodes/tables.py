"""Nodes of tables: what becomes a table, and what is made of one."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from moldau.pipeline.plan.nodes.node import Function, Node, Rule, StoringNode
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.serde import Serde


@dataclass(frozen=True, kw_only=True)
class TableNode(Node):
    """A table; with a store when the user asked for one or a neighbour needs it."""

    store: StoreSpec | None = None
    send_old_values: bool = False

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,) if self.store else ()


@dataclass(frozen=True, kw_only=True)
class TableSource(TableNode):
    """The stream of its one parent read as a table: the last value of each key. Without a store when none needs one."""

    label: ClassVar[str] = "table"


@dataclass(frozen=True, kw_only=True)
class GlobalTable(StoringNode):
    """A whole topic, every partition of it, in every task. Its records come by `Task.apply_global`."""

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
class TableAggregate(StoringNode):
    """A grouped table folded again: of each change (a record of a repartition topic) the old value is subtracted, the
    new one added.

    With `initializer` None a reduce: `adder(aggregate, value)`, `subtractor(aggregate, value)`.
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
