"""What shall be done for a statement. The order is: topics, schemas, command; then nothing is left half created."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import Answer
from moldau.pipeline.sql.engine.command import Command
from moldau.pipeline.sql.formats.infer import SubjectSchema
from moldau.pipeline.sql.syntax.tree.statements import Statement

if TYPE_CHECKING:
    from moldau.pipeline.sql.engine.session import Session


@dataclass(frozen=True, slots=True)
class NewTopic:
    name: str
    partitions: int
    replicas: int
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewSchema:
    subject: str
    schema: SubjectSchema


@dataclass(frozen=True, slots=True)
class InsertRow:
    """A record to be produced. `key` is None where there is no key; `value` is None for a tombstone."""

    source: SourceInfo
    key: tuple[Any, ...] | None
    value: tuple[Any, ...] | None
    timestamp_ms: int

    @property
    def topic(self) -> str:
        return self.source.topic


@dataclass(frozen=True, slots=True)
class Forward:
    """A statement about connectors: the server sends it to `ksql.connect.url`."""

    statement: Statement


@dataclass(frozen=True, slots=True)
class Wait:
    """ASSERT TOPIC and ASSERT SCHEMA: not fulfilled yet. The server asks again until the time is over."""

    timeout_ms: int
    message: str
    """The error when the time is over."""


@dataclass(frozen=True, slots=True)
class Decision:
    """`answer` is what the statement returns now. With a command it is provisional: the final one, with the query's
    id, is in what `Catalog.replay` returns for the command's offset."""

    answer: Answer | None = None
    command: Command | None = None
    topics_to_create: tuple[NewTopic, ...] = ()
    topics_to_delete: tuple[str, ...] = ()
    """After the command; with their subjects `<topic>-key` and `<topic>-value`."""
    schemas_to_register: tuple[NewSchema, ...] = ()
    insert: InsertRow | None = None
    session: "Session | None" = None
    """The session after SET, UNSET, DEFINE and UNDEFINE."""
    forward: Forward | None = None
    wait: Wait | None = None
    warnings: tuple[str, ...] = ()
