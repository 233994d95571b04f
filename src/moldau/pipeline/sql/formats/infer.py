"""Columns from a schema in the registry, for CREATE without columns, and schemas from columns. Pure."""

from collections.abc import Callable, Mapping
from typing import Final

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.avro.rows import avro_columns, avro_schema
from moldau.pipeline.sql.formats.json_schema import json_schema, json_schema_columns
from moldau.pipeline.sql.formats.protobuf.rows import protobuf_columns
from moldau.pipeline.sql.formats.protobuf.schemas import protobuf_schema
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import Column

__all__ = ["SubjectSchema", "generated_schema", "inferred_columns"]

KEY_COLUMN: Final = "ROWKEY"
VALUE_COLUMN: Final = "ROWVAL"
"""Names of columns that are written by themselves."""

Infer = Callable[[Format, SubjectSchema, str, Callable[[str], str]], tuple[Column, ...]]
_TYPE_AND_COLUMNS: Final[Mapping[str, tuple[str, Infer]]] = {
    "AVRO": ("AVRO", avro_columns),
    "JSON_SR": ("JSON", json_schema_columns),
    "PROTOBUF": ("PROTOBUF", protobuf_columns),
}
_GENERATED: Final = {"AVRO": avro_schema, "JSON_SR": json_schema, "PROTOBUF": protobuf_schema}


def inferred_columns(form: Format, schema: SubjectSchema, *, is_key: bool) -> tuple[Column, ...]:
    """The columns of a topic's keys or values. SqlError where the schema does not fit the format.

    Names become upper-case, except where WITH names the schema by its id. A key is always one column, where the
    format can write one by itself.
    """
    if form.name not in _TYPE_AND_COLUMNS:
        raise SqlError(
            f"columns cannot be inferred in the format {form.name}, since it has no schemas",
            hint=f"Declare the columns, or use {', '.join(_TYPE_AND_COLUMNS)}.",
        )
    kind, infer = _TYPE_AND_COLUMNS[form.name]
    if schema.type != kind:
        raise SqlError(
            f"the schema {_shown(schema)} is of the type {schema.type}, and the format is {form.name}",
            hint="Declare the format that the topic's records have.",
        )
    own = Format(form.name, form.properties, form.is_wrapped and not is_key)
    keeps_names = "SCHEMA_ID" in dict(form.properties)
    try:
        found = infer(own, schema, KEY_COLUMN if is_key else VALUE_COLUMN, str if keeps_names else str.upper)
    except ValueError as wrong:
        raise SqlError(f"the schema {_shown(schema)} cannot be read: {wrong}") from None
    if not found:
        raise SqlError(
            f"the schema {_shown(schema)} has no columns of types that SQL has",
            hint="Declare the columns in the statement.",
        )
    return found


def generated_schema(form: Format, columns: tuple[Column, ...], *, is_key: bool) -> SubjectSchema | None:
    """The schema that `row_serde` writes with, to be registered when a statement creates the topic.

    None for a format without schemas, and for a key without columns.
    """
    generate = _GENERATED.get(form.name)
    if generate is None or (is_key and not columns):
        return None
    return generate(form, columns)


def _shown(schema: SubjectSchema) -> str:
    return f"of {schema.subject}" if schema.subject else str(schema.id or "")
