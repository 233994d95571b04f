"""Columns of an Avro schema."""

from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Column,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType

_SIMPLE: Final[dict[str, SqlType]] = {
    "boolean": BOOLEAN,
    "int": INTEGER,
    "long": BIGINT,
    "float": DOUBLE,
    "double": DOUBLE,
    "string": STRING,
    "enum": STRING,
    "bytes": BYTES,
    "fixed": BYTES,
}
_LOGICAL: Final[dict[str, SqlType]] = {
    "date": DATE,
    "time-millis": TIME,
    "time-micros": TIME,
    **{
        f"{kind}-{unit}": TIMESTAMP
        for kind in ("timestamp", "local-timestamp")
        for unit in ("millis", "micros", "nanos")
    },
}


def type_of(tree: Any, named: Callable[[str], str]) -> SqlType | None:
    """None where SQL has no such type. `named` makes the name of a field."""
    match tree:
        case str():
            return _SIMPLE.get(tree)
        case list():
            branches = without_null(tree)
            return type_of(branches[0], named) if len(branches) == 1 else None
        case {"logicalType": "decimal", "precision": precision}:
            return DecimalType(precision, tree.get("scale", 0))
        case {"logicalType": str(logical)} if logical in _LOGICAL:
            return _LOGICAL[logical]
        case {"type": "record"}:
            fields = [(column.name, column.type) for column in columns_of(tree, named)]
            return Struct(fields) if fields else None
        case {"type": "array", "items": items}:
            entry = entry_types(items)
            element = type_of(items if entry is None else entry[1], named)
            if element is None:
                return None
            return Array(element) if entry is None else Map(STRING, element)
        case {"type": "map", "values": values}:
            of = type_of(values, named)
            return None if of is None else Map(STRING, of)
        case {"type": inner}:
            return type_of(inner, named)
    return None


def columns_of(record: dict[str, Any], named: Callable[[str], str]) -> tuple[Column, ...]:
    """Fields that SQL has no type for are left out."""
    found = [(named(field["name"]), type_of(field["type"], named)) for field in record["fields"]]
    return tuple(Column(name, kind) for name, kind in found if kind is not None)


def without_null(union: list[Any]) -> list[Any]:
    return [one for one in union if one != "null"]


def entry_types(items: Any) -> tuple[Any, Any] | None:
    """Types of key and value where an array's elements are the entries of a map."""
    match items:
        case {"type": "record", "connect.internal.type": "MapEntry", "fields": [key, value]}:
            return key["type"], value["type"]
    return None
