"""What statements answer, as data; close to ksqlDB's entities, which the server makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.state import PersistentQuery
from moldau.pipeline.sql.functions.declaration import Function
from moldau.pipeline.sql.types import Schema, SqlType


@dataclass(frozen=True, slots=True)
class CurrentStatus:
    """`currentStatus`: what became of a command. `command_id` is `stream/NAME/create`."""

    message: str
    command_id: str = ""
    status: Literal["SUCCESS", "ERROR", "QUEUED", "TERMINATED"] = "SUCCESS"
    query_id: str | None = None


@dataclass(frozen=True, slots=True)
class Warned:
    """`warning_entity`: nothing was done, as IF NOT EXISTS asks."""

    message: str


@dataclass(frozen=True, slots=True)
class SourcesList:
    """`streams` or `tables`."""

    what: Literal["STREAMS", "TABLES"]
    sources: tuple[SourceInfo, ...]


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """`sourceDescription`. Statistics of an extended one are the server's."""

    source: SourceInfo
    read_queries: tuple[PersistentQuery, ...] = ()
    """Those that read it."""
    write_queries: tuple[PersistentQuery, ...] = ()
    is_extended: bool = False
    partitions: int = 0
    replicas: int = 0
    constraints: tuple[str, ...] = ()
    """Streams and tables that were made from it: they are dropped first."""

    @property
    def statement(self) -> str:
        return self.source.statement

    @property
    def window_type(self) -> str | None:
        return None if self.source.window is None else self.source.window.kind


@dataclass(frozen=True, slots=True)
class SourceDescriptions:
    """`source_descriptions`: SHOW STREAMS EXTENDED, DESCRIBE TABLES."""

    descriptions: tuple[SourceDescription, ...]


@dataclass(frozen=True, slots=True)
class QueriesList:
    """`queries`; `queryDescriptions` where it is extended. Transient queries are added by the server."""

    queries: tuple[PersistentQuery, ...]
    explanations: tuple["Explanation", ...] = ()
    """Of an extended list."""

    @property
    def is_extended(self) -> bool:
        return bool(self.explanations)


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    name: str
    type: Literal["SCALAR", "AGGREGATE", "TABLE"]
    category: str


@dataclass(frozen=True, slots=True)
class FunctionsList:
    """`function_names`"""

    functions: tuple[FunctionSummary, ...]


@dataclass(frozen=True, slots=True)
class ArgumentDescription:
    name: str
    type: str
    doc: str = ""
    is_variadic: bool = False


@dataclass(frozen=True, slots=True)
class FunctionVariation:
    arguments: tuple[ArgumentDescription, ...]
    returns: str
    doc: str = ""


@dataclass(frozen=True, slots=True)
class DescribeFunction:
    """`describe_function`"""

    function: Function
    name: str
    type: Literal["SCALAR", "AGGREGATE", "TABLE"]
    category: str
    doc: str
    author: str
    path: str
    variations: tuple[FunctionVariation, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypesList:
    """`type_list`"""

    types: Mapping[str, SqlType]


@dataclass(frozen=True, slots=True)
class ServerProperty:
    name: str
    value: str
    scope: Literal["KSQL", "KAFKA STREAMS"] = "KSQL"
    level: Literal["SERVER", "SESSION", "QUERY"] = "SERVER"
    is_overridden: bool = False
    """By SET in this session."""
    is_default: bool = True
    is_editable: bool = False
    """By SET or ALTER SYSTEM."""


@dataclass(frozen=True, slots=True)
class PropertiesList:
    """`properties`"""

    properties: tuple[ServerProperty, ...]


@dataclass(frozen=True, slots=True)
class VariablesList:
    """`variables`"""

    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TopicSummary:
    name: str
    partitions: int
    replicas: int


@dataclass(frozen=True, slots=True)
class TopicsList:
    """`kafka_topics`; `kafka_topics_extended` has consumers too, which the server counts."""

    topics: tuple[TopicSummary, ...]
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """`queryDescription`"""

    statement: str
    schema: Schema
    sources: tuple[str, ...]
    plan: str
    """The steps in words, one a line, and which lane runs them."""
    topology: str
    query: PersistentQuery | None = None
    """None: of a statement that does not run."""
    sink: SourceInfo | None = None
    window_type: str | None = None
    overridden: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asserted:
    """`assert_topic`, `assert_schema`, and those of their negations."""

    what: Literal["TOPIC", "SCHEMA"]
    exists: bool
    topic: str | None = None
    subject: str | None = None
    schema_id: int | None = None


Answer = (
    CurrentStatus
    | Warned
    | SourcesList
    | SourceDescription
    | SourceDescriptions
    | QueriesList
    | FunctionsList
    | DescribeFunction
    | TypesList
    | PropertiesList
    | VariablesList
    | TopicsList
    | Explanation
    | Asserted
)
