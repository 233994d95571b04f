"""What a query does, step by step, with all names and types settled. Values; `translation` makes a topology of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from moldau.pipeline.code.tree import Code
from moldau.pipeline.sql.definitions import HeaderColumn, KeyWindow, SourceInfo
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.functions.declaration import Folding
from moldau.pipeline.sql.syntax.tree.relations import JoinKind
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import Column, Schema, SqlType


@dataclass(frozen=True, slots=True)
class Input:
    """A source as it is read. In a query with joins its row is one flat tuple: value, key, pseudo columns."""

    source: SourceInfo
    alias: str
    flat: tuple[Code, ...] = ()
    """What the flat tuple is made of; empty where there is no join."""
    metadata: tuple[HeaderColumn | str, ...] = ()
    """What is put behind the stored columns when a record is read: header columns, ROWPARTITION, ROWOFFSET."""


@dataclass(frozen=True, slots=True)
class JoinWithin:
    before_ms: int
    after_ms: int
    grace_ms: int | None
    """None: not said, so that an outer row is emitted at once."""


@dataclass(frozen=True, slots=True)
class JoinStep:
    """What has been read so far, joined with one more input. Keys are code over each side's own flat row."""

    kind: JoinKind
    right: Input
    left_is_table: bool
    left_key: Code | None
    """None: the left side has this key already."""
    right_key: Code | None
    key_type: SqlType
    within: JoinWithin | None = None
    is_foreign_key: bool = False
    """A table with another table's key in a column: the result keeps the left side's key."""
    left_width: int = 0
    right_width: int = 0


@dataclass(frozen=True, slots=True)
class AggregateCall:
    text: str
    folding: Folding
    arguments: tuple[Code, ...]
    result: SqlType


@dataclass(frozen=True, slots=True)
class GroupWindow:
    key_window: KeyWindow
    advance_ms: int
    grace_ms: int
    retention_ms: int


@dataclass(frozen=True, slots=True)
class Grouping:
    keys: tuple[Typed, ...]
    is_by_record_key: bool
    """Grouped by the key the records have: nothing has to move."""
    calls: tuple[AggregateCall, ...]
    window: GroupWindow | None
    having: Code | None


@dataclass(frozen=True, slots=True)
class Explosion:
    """Table functions: each row becomes as many as the longest of them gives."""

    calls: tuple[tuple[Code, str], ...]
    """Each gives a list; the text is for EXPLAIN."""


@dataclass(frozen=True, slots=True)
class Output:
    column: Column
    code: Code | None
    """None, of a key column: it is the record's key as it is."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    kind: Kind
    first: Input
    joins: tuple[JoinStep, ...]
    where: Code | None
    explosion: Explosion | None
    partition_by: tuple[Typed, ...] | None
    """The new key; an empty one is no key at all. None: the key stays."""
    grouping: Grouping | None
    key: tuple[Output, ...]
    value: tuple[Output, ...]
    window: KeyWindow | None
    is_final: bool
    limit: int | None

    @property
    def schema(self) -> Schema:
        return Schema(tuple(one.column for one in self.key), tuple(one.column for one in self.value))

    @property
    def inputs(self) -> Iterator[Input]:
        yield self.first
        for step in self.joins:
            yield step.right
