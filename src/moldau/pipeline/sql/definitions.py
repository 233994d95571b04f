"""What is defined by name: streams and tables over topics, with their columns and formats. Values."""

from dataclasses import dataclass, field
from typing import Literal

from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import Column, Schema


@dataclass(frozen=True, slots=True)
class Format:
    """How keys or values are written: the name of the format and what WITH says of it."""

    name: str
    properties: tuple[tuple[str, str], ...] = ()
    """Such as the delimiter, or the full name of a schema; upper-case names without KEY_ and VALUE_."""
    is_wrapped: bool = True
    """Whether a single column is written as a record with one field."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class KeyWindow:
    """The window a record's key carries. A session has no size."""

    kind: Literal["TUMBLING", "HOPPING", "SESSION"]
    size_ms: int = 0


@dataclass(frozen=True, slots=True)
class HeaderColumn:
    """A value column that is filled from the record's headers: all of them, or the last one of a name."""

    column: str
    header: str | None = None


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A stream or a table."""

    name: str
    kind: Kind
    schema: Schema
    topic: str
    key_format: Format
    value_format: Format
    window: KeyWindow | None = None
    timestamp_column: str | None = None
    timestamp_format: str | None = None
    headers: tuple[HeaderColumn, ...] = ()
    is_read_only: bool = False
    """CREATE SOURCE: nothing is inserted, and a table is kept so that pull queries may ask it."""
    statement: str = field(default="", compare=False)

    @property
    def is_table(self) -> bool:
        return self.kind is Kind.TABLE

    @property
    def stored_columns(self) -> tuple[Column, ...]:
        """The value columns that are in the record's value."""
        from_headers = {one.column for one in self.headers}
        return tuple(column for column in self.schema.value if column.name not in from_headers)
