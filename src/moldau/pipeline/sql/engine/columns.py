"""Column definitions as a schema: constraints, names that are taken, types of the user's own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from moldau.pipeline.sql.analysis.scope import SYSTEM_COLUMNS
from moldau.pipeline.sql.definitions import HeaderColumn
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.expressions import NamedType
from moldau.pipeline.sql.syntax.tree.statements import ColumnDefinition, Constraint, Kind
from moldau.pipeline.sql.types import BYTES, SIMPLE, STRING, Array, Column, Map, Schema, SqlType, Struct

HEADERS_TYPE: Final = Array(Struct((("KEY", STRING), ("VALUE", BYTES))))


def resolved(kind: SqlType, types: Mapping[str, SqlType]) -> SqlType:
    """The type with those of the user's own replaced by what they stand for."""
    match kind:
        case NamedType(name=name, at=at):
            found = types.get(name)
            if found is None:
                hint = did_you_mean(name, [*types, *SIMPLE]) or "SHOW TYPES; lists types of your own."
                raise SqlError(f"unknown type {name}", at, hint=hint)
            return found
        case Array(element=element):
            return Array(resolved(element, types))
        case Map(key=key, value=value):
            return Map(resolved(key, types), resolved(value, types))
        case Struct(fields=fields):
            return Struct([(name, resolved(one, types)) for name, one in fields])
    return kind


def resolved_columns(
    given: Sequence[ColumnDefinition], types: Mapping[str, SqlType]
) -> tuple[ColumnDefinition, ...]:
    return tuple(replace(one, type=resolved(one.type, types)) for one in given)


def check_columns(kind: Kind, given: Sequence[ColumnDefinition]) -> None:
    """Names and constraints; types are resolved already."""
    seen: set[str] = set()
    for one in given:
        if one.name in SYSTEM_COLUMNS:
            hint = f"Give it another name, or quote it in another case: `{one.name.lower()}`."
            raise SqlError(f"{one.name} is the name of a pseudo column", one.at, hint=hint)
        if one.name in seen:
            raise SqlError(f"two columns are called {one.name}", one.at)
        seen.add(one.name)
        _check_constraint(kind, one)
    if sum(one.constraint is Constraint.HEADERS for one in given) > 1:
        raise SqlError("only one column can be HEADERS", given[0].at)
    if any(one.constraint is Constraint.HEADERS for one in given) and any(
        one.constraint is Constraint.HEADER for one in given
    ):
        raise SqlError("HEADERS and HEADER('name') exclude each other", given[0].at)


def _check_constraint(kind: Kind, one: ColumnDefinition) -> None:
    match one.constraint:
        case Constraint.KEY if kind is Kind.TABLE:
            hint = f"Write {one.name} {one.type} PRIMARY KEY."
            raise SqlError(f"column {one.name}: the key of a table is a PRIMARY KEY", one.at, hint=hint)
        case Constraint.PRIMARY_KEY if kind is Kind.STREAM:
            hint = f"Write {one.name} {one.type} KEY."
            raise SqlError(f"column {one.name}: a stream has no PRIMARY KEY", one.at, hint=hint)
        case Constraint.HEADERS if one.type != HEADERS_TYPE:
            raise SqlError(
                f"column {one.name} is HEADERS, so its type must be {HEADERS_TYPE}, not {one.type}", one.at
            )
        case Constraint.HEADER if one.type != BYTES:
            raise SqlError(
                f"column {one.name} is a HEADER, so its type must be BYTES, not {one.type}",
                one.at,
                hint="FROM_BYTES(column, 'utf8') makes text of it in a query.",
            )


def schema_of(given: Sequence[ColumnDefinition]) -> Schema:
    return Schema(
        tuple(Column(one.name, one.type) for one in given if is_key(one)),
        tuple(Column(one.name, one.type) for one in given if not is_key(one)),
    )


def headers_of(given: Sequence[ColumnDefinition]) -> tuple[HeaderColumn, ...]:
    return tuple(
        HeaderColumn(one.name, one.header)
        for one in given
        if one.constraint in (Constraint.HEADERS, Constraint.HEADER)
    )


def is_key(one: ColumnDefinition) -> bool:
    return one.constraint in (Constraint.KEY, Constraint.PRIMARY_KEY)


def column_text(one: ColumnDefinition) -> str:
    """As CREATE reads it back."""
    text = str(Column(one.name, one.type))
    if one.constraint is Constraint.HEADER:
        name = (one.header or "").replace("'", "''")
        return f"{text} HEADER('{name}')"
    return f"{text} {one.constraint.value}".rstrip()
