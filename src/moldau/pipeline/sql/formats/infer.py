"""Columns from a schema in the registry, for CREATE without columns. Pure: the schema comes as text."""

from dataclasses import dataclass

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.types import Column


@dataclass(frozen=True, slots=True)
class SubjectSchema:
    """A schema as the registry keeps it."""

    text: str
    type: str
    """AVRO, JSON or PROTOBUF."""
    references: tuple[tuple[str, str], ...] = ()
    """Name and text of what the schema imports, dependencies first."""
    id: int | None = None
    subject: str = ""


def inferred_columns(form: Format, schema: SubjectSchema, *, is_key: bool) -> tuple[Column, ...]:
    """The columns of a topic's keys or values. SqlError where the schema does not fit the format."""
    raise NotImplementedError


def generated_schema(form: Format, columns: tuple[Column, ...], *, is_key: bool) -> SubjectSchema | None:
    """The schema that `row_serde` writes with, to be registered when a statement creates the topic.

    None for a format without schemas, and for a key without columns.
    """
    raise NotImplementedError
