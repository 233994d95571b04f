"""Nodes that join: streams with streams, streams with tables, tables with tables."""

from dataclasses import dataclass
from typing import ClassVar

from moldau.pipeline.plan.nodes.node import Function, JoinKind, Node, Rule, StoringNode
from moldau.pipeline.plan.nodes.tables import TableNode
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.plan.windows import JoinWindows
from moldau.pipeline.serdes.serde import Serde


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
    """Records that have no match yet, kept until their window closes (left and outer joins)."""
    label: ClassVar[str] = "stream-join"

    def stores(self) -> tuple[StoreSpec, ...]:
        shared = (self.outer_store,) if self.outer_store else ()
        return (self.left_store, self.right_store, *shared)


@dataclass(frozen=True, kw_only=True)
class StreamTableJoin(Node):
    """A stream (the parent) looks up rows of a table (a node of the same sub-topology). With a `buffer`, its records
    first wait there for `grace_ms` of stream time (KIP-923)."""

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
    """A stream looks up the key `selector(key, value)` in a global table."""

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
    """On the left: subscribes to, or unsubscribes from, the foreign key in that key's partition."""

    extractor: Function
    kind: JoinKind
    left_value_serde: Serde
    foreign_key_serde: Serde
    unanswered: StoreSpec | None = None
    """For an inner join: rows with an outstanding answer."""
    label: ClassVar[str] = "foreign-key-subscribe"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.unanswered,) if self.unanswered else ()


@dataclass(frozen=True, kw_only=True)
class ForeignKeyAnswer(StoringNode):
    """On the right: parents (subscriptions, right table). Stores subscriptions and answers them, also at every
    change."""

    table: str
    left_key_serde: Serde
    foreign_key_serde: Serde
    right_value_serde: Serde
    label: ClassVar[str] = "foreign-key-answer"


@dataclass(frozen=True, kw_only=True)
class ForeignKeyResolve(Node):
    """On the left again: drops answers to values that have changed since, and joins the others."""

    table: str
    joiner: Function
    kind: JoinKind
    left_value_serde: Serde
    right_value_serde: Serde
    unanswered: StoreSpec | None = None
    """The store of the subscribing node."""
    label: ClassVar[str] = "foreign-key-resolve"

    def store_names(self) -> tuple[str, ...]:
        return (self.unanswered.name,) if self.unanswered else ()
