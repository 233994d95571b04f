"""What CREATE defines in a case: columns and WITH as a `SourceInfo`."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.scope import SYSTEM_COLUMNS
from moldau.pipeline.sql.definitions import Format, HeaderColumn, KeyWindow, SourceInfo
from moldau.pipeline.sql.expressions.named_types import NamedTypes, real_type
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse_duration
from moldau.pipeline.sql.syntax.tree.statements import (
    ColumnDefinition,
    Constraint,
    CreateSource,
    Kind,
    Property,
    property_values,
)
from moldau.pipeline.sql.types import Column, Schema, SqlType

_KEYS: Final = (Constraint.KEY, Constraint.PRIMARY_KEY)


def source_of(statement: CreateSource, types: Mapping[str, SqlType]) -> SourceInfo:
    """Of CREATE STREAM and CREATE TABLE over a topic."""
    said = _upper(statement.properties)
    columns = _with_old_key(statement, said)
    _check_names(columns)
    scope = NamedTypes(types)
    schema = Schema(
        tuple(Column(one.name, real_type(one.type, scope)) for one in columns if one.constraint in _KEYS),
        tuple(Column(one.name, real_type(one.type, scope)) for one in columns if one.constraint not in _KEYS),
    )
    if statement.kind is Kind.TABLE and not schema.key:
        hint = "Declare it: ID STRING PRIMARY KEY."
        raise SqlError(f"the table {statement.name} has no PRIMARY KEY", statement.at, hint=hint)
    headers = tuple(
        HeaderColumn(one.name, one.header)
        for one in columns
        if one.constraint in (Constraint.HEADERS, Constraint.HEADER)
    )
    key_format, value_format = _formats(said, "KAFKA", "JSON")
    return SourceInfo(
        statement.name,
        statement.kind,
        schema,
        str(said.get("KAFKA_TOPIC", statement.name)),
        key_format,
        value_format,
        _window(said),
        _column_name(said.get("TIMESTAMP")),
        said.get("TIMESTAMP_FORMAT"),
        headers,
        statement.is_source,
    )


def target_of(name: str, properties: tuple[Property, ...], plan: QueryPlan) -> SourceInfo:
    """Of CREATE ... AS SELECT: formats are those of the first source where WITH says nothing."""
    said = _upper(properties)
    first = plan.first.source
    key_format, value_format = _formats(said, first.key_format.name, first.value_format.name)
    return SourceInfo(
        name,
        plan.kind,
        plan.schema,
        str(said.get("KAFKA_TOPIC", name)),
        key_format,
        value_format,
        plan.window,
        _column_name(said.get("TIMESTAMP")),
        said.get("TIMESTAMP_FORMAT"),
    )


def _upper(properties: tuple[Property, ...]) -> dict[str, Any]:
    return {name.upper(): value for name, value in property_values(properties).items()}


def _column_name(written: Any) -> str | None:
    if written is None:
        return None
    text = str(written)
    return text[1:-1] if text.startswith("`") else text.upper()


def _with_old_key(statement: CreateSource, said: Mapping[str, Any]) -> tuple[ColumnDefinition, ...]:
    """KSQL 5 named the key column among the properties: KEY='user_id'."""
    name = _column_name(said.get("KEY"))
    if name is None:
        return statement.columns
    constraint = Constraint.PRIMARY_KEY if statement.kind is Kind.TABLE else Constraint.KEY
    return tuple(
        ColumnDefinition(one.name, one.type, constraint, at=one.at) if one.name == name else one
        for one in statement.columns
    )


def _check_names(columns: tuple[ColumnDefinition, ...]) -> None:
    seen: set[str] = set()
    for one in columns:
        if one.name in SYSTEM_COLUMNS:
            raise SqlError(f"{one.name} is the name of a pseudo column", one.at)
        if one.name in seen:
            raise SqlError(f"two columns are called {one.name}", one.at)
        seen.add(one.name)


def _formats(said: Mapping[str, Any], key: str, value: str) -> tuple[Format, Format]:
    wrapped = str(said.get("WRAP_SINGLE_VALUE", True)).lower() == "true"
    return (
        _format("KEY", str(said.get("KEY_FORMAT") or said.get("FORMAT") or key), said, False),
        _format("VALUE", str(said.get("VALUE_FORMAT") or said.get("FORMAT") or value), said, wrapped),
    )


def _format(part: str, name: str, said: Mapping[str, Any], is_wrapped: bool) -> Format:
    own = tuple(
        (key.removeprefix(f"{part}_"), str(value))
        for key, value in said.items()
        if key.startswith(f"{part}_") and key != f"{part}_FORMAT"
    )
    return Format(name.upper(), own, is_wrapped)


def _window(said: Mapping[str, Any]) -> KeyWindow | None:
    kind = said.get("WINDOW_TYPE")
    if kind is None:
        return None
    size = said.get("WINDOW_SIZE")
    return KeyWindow(str(kind).upper(), 0 if size is None else parse_duration(str(size)).ms)  # type: ignore[arg-type]
