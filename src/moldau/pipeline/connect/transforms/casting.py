"""How single values are cast to another type, as Java casts them: whole numbers wrap around, floating point numbers are
cut off."""

import base64
import math
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import time_text
from moldau.pipeline.connect.data.logical import to_plain
from moldau.pipeline.connect.data.schema import DECIMAL, Schema, SchemaType
from moldau.pipeline.connect.data.validation import RANGES, shown
from moldau.pipeline.java_texts.numbers import (
    double_text,
    float_text,
    real_number,
    rounded_float,
    whole_number,
)

TARGETS: Final = {
    "int8": SchemaType.INT8,
    "int16": SchemaType.INT16,
    "int32": SchemaType.INT32,
    "int64": SchemaType.INT64,
    "float32": SchemaType.FLOAT32,
    "float64": SchemaType.FLOAT64,
    "boolean": SchemaType.BOOLEAN,
    "string": SchemaType.STRING,
}
"""By the words of Cast's setting."""
_BITS: Final = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_STRUCTURED: Final = (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)
_WHOLE: Final = 64

Convert = Callable[[Any], Any]


def caster(target: SchemaType, schema: Schema | None = None) -> Convert:
    """Null stays null. The function raises DataError for a value that cannot be cast."""
    cast = _to(target, schema)
    plain = (
        None if schema is None or target is SchemaType.STRING or schema.name == DECIMAL else to_plain(schema)
    )
    if schema is not None and schema.type in _STRUCTURED:
        return lambda value: None if value is None else _refuse(value, target)

    def of_value(value: Any) -> Any:
        if value is None:
            return None
        try:
            return cast(value if plain is None else plain(value))
        except (ValueError, OverflowError):
            raise DataError(
                f"Value ({shown(value)}) was out of range for requested data type {target}, or is no such value: cast "
                "it to a larger type, or apply the transformation to other records only, with a predicate"
            ) from None

    return of_value


def _to(target: SchemaType, schema: Schema | None) -> Convert:
    if target in _BITS:
        return _to_whole(target)
    if target is SchemaType.FLOAT32:
        return lambda value: rounded_float(_number(value, target))
    if target is SchemaType.FLOAT64:
        return lambda value: _number(value, target)
    if target is SchemaType.BOOLEAN:
        return _boolean
    is_short = schema is not None and schema.type is SchemaType.FLOAT32
    return lambda value: _text(value, is_short=is_short)


def _to_whole(target: SchemaType) -> Convert:
    low, high = RANGES[target]
    span = high - low + 1

    def whole(value: Any) -> int:
        kind = type(value)
        if kind is str:
            number = whole_number(value)
            if not low <= number <= high:
                raise ValueError(number)
            return number
        if kind is float:
            value = cut_off(value, 64 if target is SchemaType.INT64 else 32)
        elif kind is Decimal:
            value = int(value)
        elif kind is not int and kind is not bool:
            _refuse(value, target)
        return value if kind is int and low <= value <= high else (int(value) - low) % span + low

    return whole


def cut_off(value: float, bits: int) -> int:
    """As Java makes a whole number of a floating point one: what does not fit is the nearest, not a number is 0."""
    limit = 1 << (bits - 1)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return limit - 1 if value > 0 else -limit
    return max(-limit, min(limit - 1, int(value)))


def _number(value: Any, target: SchemaType) -> float:
    match value:
        case str():
            return real_number(value)
        case bool() | int() | float() | Decimal():
            return float(value)
    _refuse(value, target)
    return 0.0


def _boolean(value: Any) -> bool:
    match value:
        case bool():
            return value
        case str():
            return value.lower() == "true"
        case float():
            return cut_off(value, _WHOLE) != 0
        case int() | Decimal():
            return int(value) % (1 << _WHOLE) != 0
    _refuse(value, SchemaType.BOOLEAN)
    return False


def _text(value: Any, *, is_short: bool) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return str(value)
        case float():
            return float_text(value) if is_short else double_text(value)
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
        case datetime() | date() | time():
            return time_text(value)
    _refuse(value, SchemaType.STRING)
    return ""


def _refuse(value: Any, target: SchemaType) -> Any:
    raise DataError(
        f"a {type(value).__name__} cannot be cast to {target}: only numbers, booleans and texts can be cast, and "
        "bytes to string"
    )
