"""Statements. Each is one value; what the server answers to it is decided elsewhere."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from moldau.pipeline.sql.syntax.tree.expressions import Constant, Expression, Node
from moldau.pipeline.sql.syntax.tree.relations import Duration, Query
from moldau.pipeline.sql.types import SqlType


class Kind(Enum):
    STREAM = "STREAM"
    TABLE = "TABLE"

    def __str__(self) -> str:
        return self.value


class Constraint(Enum):
    NONE = ""
    KEY = "KEY"
    PRIMARY_KEY = "PRIMARY KEY"
    HEADERS = "HEADERS"
    HEADER = "HEADER"


@dataclass(frozen=True, slots=True)
class ColumnDefinition(Node):
    name: str
    type: SqlType
    constraint: Constraint = Constraint.NONE
    header: str | None = None
    """The name in HEADER('name')."""


@dataclass(frozen=True, slots=True)
class Property(Node):
    """One of WITH (...); the name is upper-cased unless it was a string."""

    name: str
    value: Constant


@dataclass(frozen=True, slots=True)
class Statement(Node):
    pass


@dataclass(frozen=True, slots=True)
class QueryStatement(Statement):
    """A SELECT by itself: push with EMIT, pull without."""

    query: Query


@dataclass(frozen=True, slots=True)
class CreateSource(Statement):
    """CREATE STREAM or TABLE over a topic."""

    kind: Kind
    name: str
    columns: tuple[ColumnDefinition, ...]
    properties: tuple[Property, ...]
    or_replace: bool = False
    if_not_exists: bool = False
    is_source: bool = False
    """CREATE SOURCE TABLE: read only, and a table that pull queries may ask."""


@dataclass(frozen=True, slots=True)
class CreateAsSelect(Statement):
    kind: Kind
    name: str
    query: Query
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class InsertSelect(Statement):
    target: str
    query: Query
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class InsertValues(Statement):
    target: str
    columns: tuple[str, ...]
    """Empty: all of them in their order."""
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DropSource(Statement):
    kind: Kind
    name: str
    if_exists: bool = False
    delete_topic: bool = False


@dataclass(frozen=True, slots=True)
class AlterSource(Statement):
    kind: Kind
    name: str
    added: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True)
class CreateType(Statement):
    name: str
    type: SqlType
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropType(Statement):
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateConnector(Statement):
    kind: Literal["SOURCE", "SINK"]
    name: str
    properties: tuple[Property, ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropConnector(Statement):
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """SHOW or LIST of one kind of thing."""

    what: Literal[
        "TOPICS",
        "STREAMS",
        "TABLES",
        "QUERIES",
        "FUNCTIONS",
        "TYPES",
        "VARIABLES",
        "PROPERTIES",
        "CONNECTORS",
        "CONNECTOR PLUGINS",
    ]
    is_extended: bool = False
    shows_all: bool = False
    """SHOW ALL TOPICS: internal ones too."""
    connectors: Literal["", "SOURCE", "SINK"] = ""


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    what: Literal["SOURCE", "FUNCTION", "CONNECTOR", "STREAMS", "TABLES"]
    name: str = ""
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class Print(Statement):
    topic: str
    from_beginning: bool = False
    interval: int = 1
    """Every how-manieth record is shown."""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """Of a statement, or of a running query by its id."""

    statement: Statement | None = None
    query_id: str | None = None


@dataclass(frozen=True, slots=True)
class QueryControl(Statement):
    action: Literal["TERMINATE", "PAUSE", "RESUME"]
    query_id: str | None
    """None: ALL."""


@dataclass(frozen=True, slots=True)
class SetProperty(Statement):
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class UnsetProperty(Statement):
    name: str


@dataclass(frozen=True, slots=True)
class AlterSystem(Statement):
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Define(Statement):
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Undefine(Statement):
    name: str


@dataclass(frozen=True, slots=True)
class AssertTopic(Statement):
    topic: str
    properties: tuple[Property, ...] = ()
    timeout: Duration | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True)
class AssertSchema(Statement):
    subject: str | None
    schema_id: int | None
    timeout: Duration | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True)
class AssertValues(Statement):
    """The next record of a stream or table, in files of tests. No values: ASSERT NULL VALUES, a tombstone of a key."""

    target: str
    columns: tuple[str, ...]
    values: tuple[Expression, ...]
    is_tombstone: bool = False


@dataclass(frozen=True, slots=True)
class AssertSource(Statement):
    """ASSERT STREAM, ASSERT TABLE: it is defined like this."""

    source: CreateSource


@dataclass(frozen=True, slots=True)
class RunScript(Statement):
    file: str


def property_values(properties: tuple[Property, ...]) -> dict[str, Any]:
    return {one.name: one.value.value for one in properties}
