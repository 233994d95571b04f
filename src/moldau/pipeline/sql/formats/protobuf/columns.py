"""Columns of a Protobuf message."""

from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.sql.formats.protobuf.messages import meta_extension
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DECIMAL_PRECISION_MAX,
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

DECIMAL: Final = "confluent.type.Decimal"
MESSAGES: Final[dict[str, SqlType]] = {
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.type.Date": DATE,
    "google.type.TimeOfDay": TIME,
}
WRAPPERS: Final = {
    f"google.protobuf.{name}Value"
    for name in ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
}
SCALARS: Final[dict[int, SqlType]] = {
    1: DOUBLE,
    2: DOUBLE,
    3: BIGINT,
    4: BIGINT,
    5: INTEGER,
    6: BIGINT,
    7: BIGINT,
    8: BOOLEAN,
    9: STRING,
    12: BYTES,
    13: BIGINT,
    14: STRING,
    15: INTEGER,
    16: BIGINT,
    17: INTEGER,
    18: BIGINT,
}
"""By the number that descriptors have for a type: double, float, int64, uint64, int32, fixed64, fixed32, bool,
string, bytes, uint32, enum, sfixed32, sfixed64, sint32, sint64. Groups and messages are not among them."""


def columns_of(message: Any, named: Callable[[str], str]) -> tuple[Column, ...]:
    """Fields that SQL has no type for are left out."""
    return tuple(Column(name, kind) for name, kind in _fields(message, named, ()))


def _fields(message: Any, named: Callable[[str], str], around: tuple[str, ...]) -> list[tuple[str, SqlType]]:
    """`around` are the messages that this one is in: none contains itself."""
    if message.full_name in around:
        return []
    inside = (*around, message.full_name)
    found = [(named(field.name), _type(field, named, inside)) for field in message.fields]
    return [(name, kind) for name, kind in found if kind is not None]


def _type(field: Any, named: Callable[[str], str], around: tuple[str, ...]) -> SqlType | None:
    if is_map(field):
        value = _element(field.message_type.fields_by_name["value"], named, around)
        return None if value is None else Map(STRING, value)
    element = _element(field, named, around)
    return Array(element) if field.is_repeated and element is not None else element


def _element(field: Any, named: Callable[[str], str], around: tuple[str, ...]) -> SqlType | None:
    message = field.message_type
    if message is None:
        return SCALARS.get(field.type)
    if message.full_name in WRAPPERS:
        return SCALARS[message.fields_by_name["value"].type]
    if message.full_name == DECIMAL:
        return _decimal(field)
    if message.full_name in MESSAGES:
        return MESSAGES[message.full_name]
    fields = _fields(message, named, around)
    return Struct(fields) if fields else None


def _decimal(field: Any) -> SqlType:
    params = field.GetOptions().Extensions[meta_extension()].params
    precision = int(params.get("precision", DECIMAL_PRECISION_MAX))
    return DecimalType(min(precision, DECIMAL_PRECISION_MAX), int(params.get("scale", 0)))


def is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)
