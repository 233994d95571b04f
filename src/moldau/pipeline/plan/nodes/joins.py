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
    unanswered: StoreSpec | None = None
    """Of an inner join: rows whose subscription must be answered and has not been."""
    label: ClassVar[str] = "foreign-key-subscribe"

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.unanswered,) if self.unanswered else ()


@dataclass(frozen=True, kw_only=True)
class ForeignKeyAnswer(StoringNode):
    """On the right: parents (subscriptions, right table). Keeps the subscriptions, answers them and every change."""

    table: str
    left_key_serde: Serde
    foreign_key_serde: Serde
    right_value_serde: Serde
    label: ClassVar[str] = "foreign-key-answer"


@dataclass(frozen=True, kw_only=True)
class ForeignKeyResolve(Node):
    """On the left again: drops answers to values that have changed since, joins the others."""

    table: str
    joiner: Function
    kind: JoinKind
    left_value_serde: Serde
    right_value_serde: Serde
    unanswered: StoreSpec | None = None
    """That of the subscribing node."""
    label: ClassVar[str] = "foreign-key-resolve"

    def store_names(self) -> tuple[str, ...]:
        return (self.unanswered.name,) if self.unanswered else ()
