"""Types and columns as ksqlDB's schema objects, and as text with every name in back-ticks."""

from collections.abc import Iterable
from typing import Any

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.types import Array, Column, Decimal, Map, Schema, SqlType, Struct

Json = dict[str, Any]


def schema_object(kind: SqlType) -> Json:
    found: Json = {"type": kind.name, "fields": None, "memberSchema": None}
    match kind:
        case Decimal(precision=precision, scale=scale):
            found["parameters"] = {"precision": precision, "scale": scale}
        case Array(element=member) | Map(value=member):
            found["memberSchema"] = schema_object(member)
        case Struct(fields=fields):
            found["fields"] = [{"name": name, "schema": schema_object(of)} for name, of in fields]
    return found


def field_objects(columns: Iterable[Column]) -> list[Json]:
    return [{"name": column.name, "schema": schema_object(column.type)} for column in columns]


def source_fields(source: SourceInfo) -> list[Json]:
    """The columns of a stream or table, with what those are for that are not in the value."""
    headers = {one.column: one.header for one in source.headers}
    fields = schema_fields(source.schema)
    for field in fields:
        if field["name"] in headers:
            field["type"] = "HEADER"
            if headers[field["name"]] is not None:
                field["headerKey"] = headers[field["name"]]
    return fields


def schema_fields(schema: Schema) -> list[Json]:
    return [{**field, "type": "KEY"} for field in field_objects(schema.key)] + field_objects(schema.value)


def type_text(kind: SqlType) -> str:
    match kind:
        case Array(element=element):
            return f"ARRAY<{type_text(element)}>"
        case Map(key=key, value=value):
            return f"MAP<{type_text(key)}, {type_text(value)}>"
        case Struct(fields=fields):
            return f"STRUCT<{', '.join(f'{back_ticked(name)} {type_text(of)}' for name, of in fields)}>"
    return str(kind)


def back_ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
