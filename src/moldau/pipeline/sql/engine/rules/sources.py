"""CREATE STREAM and CREATE TABLE over a topic, and ALTER."""

from collections.abc import Sequence
from dataclasses import replace

from moldau.pipeline.sql.definitions import Format, KeyWindow, SourceInfo
from moldau.pipeline.sql.engine.columns import (
    check_columns,
    headers_of,
    is_key,
    resolved_columns,
    schema_of,
)
from moldau.pipeline.sql.engine.formats import check_columns as check_format
from moldau.pipeline.sql.engine.formats import key_format_of, value_format_of, with_registry
from moldau.pipeline.sql.engine.rules.logged import Logged, existing, nothing_to_create, of_kind, replaced
from moldau.pipeline.sql.engine.rules.replacement import check_source_replacement
from moldau.pipeline.sql.engine.state import Change
from moldau.pipeline.sql.engine.with_properties import OF_CREATE, WithProperties, column_of, read_properties
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.statements import (
    AlterSource,
    Constraint,
    CreateSource,
    Kind,
)
from moldau.pipeline.sql.types import BIGINT, STRING, TIMESTAMP, Column, Schema

KEY_FORMAT_DEFAULT = "KAFKA"


def create_source(statement: CreateSource, on: Logged) -> Change:
    nothing = nothing_to_create(statement, on.defined)
    if nothing is not None:
        return nothing
    old = replaced(statement, on.defined)
    new = source_of(statement, on)
    if old is not None:
        check_source_replacement(old, new, on.defined, statement.at)
    word = "created" if old is None else "replaced"
    return Change(f"{statement.kind.value.capitalize()} {word}", sources=(new,))


def source_of(statement: CreateSource, on: Logged) -> SourceInfo:
    said = read_properties(statement.properties, OF_CREATE)
    columns = resolved_columns(statement.columns, on.defined.types)
    check_columns(statement.kind, columns)
    schema, headers = schema_of(columns), headers_of(columns)
    _check_key(statement, schema, said.window)
    if said.value_format is None:
        hint = f"Add VALUE_FORMAT='JSON', or another format, to the WITH of {statement.name}."
        raise SqlError(
            "VALUE_FORMAT is missing, and the server has no default for it", statement.at, hint=hint
        )
    from_headers = {one.column for one in headers}
    stored = tuple(column for column in schema.value if column.name not in from_headers)
    if statement.kind is Kind.TABLE and headers:
        raise SqlError("a table has no header columns", statement.at, hint="A stream can have them.")
    return SourceInfo(
        statement.name,
        statement.kind,
        schema,
        said.get("KAFKA_TOPIC") or statement.name,
        _registered(key_format_of(said.key_format or KEY_FORMAT_DEFAULT, said, schema.key), on),
        _registered(value_format_of(said.value_format, said, stored), on),
        said.window,
        time_column(said, stored),
        said.get("TIMESTAMP_FORMAT"),
        headers,
        statement.is_source,
        on.text,
    )


def _registered(form: Format, on: Logged) -> Format:
    return with_registry(form, on.registry)


def _check_key(statement: CreateSource, schema: Schema, window: KeyWindow | None) -> None:
    if not any(True for _ in schema):
        hint = "Declare them, or use a format whose schema is in the registry: AVRO, PROTOBUF, JSON_SR."
        raise SqlError(f"{statement.name} has no columns", statement.at, hint=hint)
    if statement.kind is Kind.TABLE and not schema.key:
        hint = "Declare the key that the topic's records have: ID STRING PRIMARY KEY."
        raise SqlError(f"the table {statement.name} has no PRIMARY KEY", statement.at, hint=hint)
    if window is not None and not schema.key:
        raise SqlError(
            f"WINDOW_TYPE is about the window in the key, and {statement.name} has no key column",
            statement.at,
            hint="Declare it: ID STRING KEY.",
        )


def time_column(said: WithProperties, stored: Sequence[Column]) -> str | None:
    """The column of TIMESTAMP, which must be able to hold a time."""
    if "TIMESTAMP" not in said:
        return None
    name, pattern = column_of(said.get("TIMESTAMP")), said.get("TIMESTAMP_FORMAT")
    names = [column.name for column in stored]
    if name not in names:
        hint = did_you_mean(name, names) or f"The columns of the value are {', '.join(names)}."
        raise said.wrong("TIMESTAMP", f"the TIMESTAMP column {name} is not in the value", hint)
    column = stored[names.index(name)]
    if column.type not in (BIGINT, TIMESTAMP, STRING):
        raise said.wrong(
            "TIMESTAMP",
            f"the TIMESTAMP column {name} is {column.type}; it must be BIGINT, TIMESTAMP or STRING",
        )
    if column.type == STRING and pattern is None:
        raise said.wrong(
            "TIMESTAMP",
            f"the TIMESTAMP column {name} is a STRING, so TIMESTAMP_FORMAT is needed",
            "For example TIMESTAMP_FORMAT='yyyy-MM-dd HH:mm:ss'.",
        )
    if column.type != STRING and pattern is not None:
        raise said.wrong(
            "TIMESTAMP_FORMAT", f"TIMESTAMP_FORMAT is for text, and column {name} is {column.type}"
        )
    return name


def alter_source(statement: AlterSource, on: Logged) -> Change:
    """Columns are added at the end. Queries that run go on with the columns they know."""
    source = of_kind(
        existing(statement.name, statement.at, on.defined), statement.kind, "ALTER", statement.at
    )
    if source.name in on.defined.created_from:
        hint = f"Use CREATE OR REPLACE {source.kind} {source.name} AS SELECT with the new columns at its end."
        raise SqlError(
            f"{source.name} was created by AS SELECT, so its columns are those of the SELECT",
            statement.at,
            hint=hint,
        )
    if "SCHEMA_ID" in dict(source.value_format.properties):
        hint = f"CREATE OR REPLACE {source.kind} {source.name} with another VALUE_SCHEMA_ID."
        raise SqlError(
            f"the columns of {source.name} are those of a schema by its id", statement.at, hint=hint
        )
    added = resolved_columns(statement.added, on.defined.types)
    check_columns(statement.kind, added)
    for one in added:
        if one.constraint is not Constraint.NONE:
            what = "key" if is_key(one) else "header"
            raise SqlError(f"ALTER adds columns of the value; {one.name} is a {what} column", one.at)
        if source.schema.column(one.name) is not None:
            raise SqlError(f"{source.name} has a column {one.name} already", one.at)
    schema = Schema(source.schema.key, (*source.schema.value, *(Column(one.name, one.type) for one in added)))
    altered = replace(source, schema=schema, statement=on.text)
    check_format(source.value_format.name, altered.stored_columns, is_key=False)
    if not source.value_format.is_wrapped:
        raise SqlError(
            f"the value of {source.name} is a single column without a record around it; no column can be added",
            statement.at,
            hint="Create another one with WRAP_SINGLE_VALUE=true.",
        )
    names = ", ".join(one.name for one in added)
    return Change(f"{statement.kind.value.capitalize()} altered: added {names}", sources=(altered,))
