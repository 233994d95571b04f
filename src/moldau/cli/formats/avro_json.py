"""Converts Avro data to JSON and back. Logical types are ISO 8601 text, bytes are as in Avro's JSON encoding.

A value of a union may be plain, or tagged with its type as in Avro's JSON encoding.
"""

import datetime
import decimal
import uuid
from collections.abc import Callable
from typing import Any

from moldau.registry.schemas.avro.types import (
    Array,
    AvroType,
    Enum,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    Union,
)

_TIMESTAMPS = ("timestamp-millis", "timestamp-micros", "local-timestamp-millis", "local-timestamp-micros")
_FROM_TEXT: dict[str, Callable[[str], object]] = {
    "date": datetime.date.fromisoformat,
    "time-millis": datetime.time.fromisoformat,
    "time-micros": datetime.time.fromisoformat,
    "uuid": uuid.UUID,
}


def to_datum(node: AvroType, value: Any, where: str = "") -> Any:
    """The value that fastavro serializes for a JSON value. Raises ValueError with the position of a mismatch."""
    if isinstance(node, Union):
        return _union(node, value, where)
    if isinstance(node, Record):
        return _record(node, value, where)
    if isinstance(node, Array):
        if not isinstance(value, list):
            raise _misfit(where, value, "an array")
        return [to_datum(node.items, item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(node, Map):
        if not isinstance(value, dict):
            raise _misfit(where, value, "an object")
        return {key: to_datum(node.values, item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(node, Enum):
        if value not in node.symbols:
            raise _misfit(where, value, f"one of {', '.join(node.symbols[:10])}")
        return value
    return _scalar(node, value, where)


def _record(node: Record, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _misfit(where, value, f"an object for record {node.name.full}")
    known = {field.name for field in node.fields}
    if unknown := [name for name in value if name not in known]:
        raise ValueError(
            f"{_place(where)} has field {unknown[0]}, which record {node.name.full} does not have"
        )
    prefix = f"{where}." if where else ""
    return {
        field.name: to_datum(field.type, value[field.name], prefix + field.name)
        for field in node.fields
        if field.name in value
    }


def _union(node: Union, value: Any, where: str) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        ((tag, inner),) = value.items()
        tagged = next((branch for branch in node.branches if _tag(branch) == tag), None)
        if tagged is not None:
            return _chosen(tagged, to_datum(tagged, inner, where))
    for branch in node.branches:
        try:
            return _chosen(branch, to_datum(branch, value, where))
        except ValueError:
            continue
    raise _misfit(where, value, " or ".join(_tag(branch) for branch in node.branches))


def _chosen(branch: AvroType, datum: Any) -> Any:
    """Adds the name of the branch, so that fastavro does not guess."""
    return (branch.name.full, datum) if isinstance(branch, NamedType) else datum


def _tag(node: AvroType) -> str:
    return node.name.full if isinstance(node, NamedType) else node.kind


def _scalar(node: Primitive | Fixed, value: Any, where: str) -> Any:
    logical = str(node.props.get("logicalType"))
    if logical == "decimal" and isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            raise _misfit(where, value, "a decimal number") from None
    if isinstance(value, str) and (logical in _TIMESTAMPS or logical in _FROM_TEXT):
        read = datetime.datetime.fromisoformat if logical in _TIMESTAMPS else _FROM_TEXT[logical]
        try:
            return read(value)
        except ValueError:
            raise _misfit(where, value, f"a {logical} in ISO 8601") from None
    if node.kind in ("bytes", "fixed"):
        return _bytes(node, value, where)
    if not _fits(node.kind, value):
        raise _misfit(where, value, node.kind)
    return value


def _bytes(node: Primitive | Fixed, value: Any, where: str) -> bytes:
    if not isinstance(value, str):
        raise _misfit(where, value, f"a string for {node.kind}")
    try:
        data = value.encode("latin-1")
    except UnicodeEncodeError:
        raise _misfit(where, value, f"{node.kind}: one character per byte, up to \\u00ff") from None
    if isinstance(node, Fixed) and len(data) != node.size:
        raise _misfit(where, value, f"{node.size} bytes for fixed {node.name.full}")
    return data


def _fits(kind: str, value: Any) -> bool:
    if kind == "null":
        return value is None
    if kind in ("int", "long"):
        bits = 31 if kind == "int" else 63
        return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits
    if kind in ("float", "double"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, bool if kind == "boolean" else str)


def _misfit(where: str, value: Any, expected: str) -> ValueError:
    shown = repr(value) if value is not None else "null"
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return ValueError(f"{_place(where)} is {shown}, but the schema requires {expected}")


def _place(where: str) -> str:
    return where or "the value"


def to_json(datum: Any) -> Any:
    """The JSON value for data that fastavro read. Decimals become strings, to keep all digits."""
    if isinstance(datum, dict):
        return {key: to_json(value) for key, value in datum.items()}
    if isinstance(datum, list | tuple):
        return [to_json(value) for value in datum]
    if isinstance(datum, bytes):
        return datum.decode("latin-1")
    if isinstance(datum, decimal.Decimal | uuid.UUID):
        return str(datum)
    if isinstance(datum, datetime.date | datetime.time):
        return datum.isoformat()
    return datum
