"""JSON values as values of SQL, and back.

As ksqlDB reads them: numbers may stand in text, text may be any value, fields of a struct are found whatever their
case. A number that its type cannot hold is an error, where ksqlDB would cut off its upper bits.
"""

import base64
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

import orjson

from moldau.pipeline.sql.expressions.numbers import fitted
from moldau.pipeline.sql.formats.json_rows import row_reader
from moldau.pipeline.sql.formats.number_ranges import whole_number
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
from moldau.pipeline.sql.value_texts import decimal_text, double_text

Convert = Callable[[Any], Any]


def json_row_reader(
    columns: Sequence[Column], wanted: Sequence[str] | None = None
) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """A function that gives the columns of an object as a tuple; those that are not wanted are None."""
    return row_reader(columns, [converter(column.type) for column in columns], wanted)


def converter(kind: SqlType) -> Convert:
    """A JSON value that is not null as a value of the type; ValueError where it is none."""
    match kind:
        case DecimalType(precision=precision, scale=scale):
            return lambda value: fitted(_decimal(value, kind), precision, scale)
        case Array(element=element):
            return _array(converter(element))
        case Map(value=of):
            return _map(converter(of))
        case Struct(fields=fields):
            read = json_row_reader([Column(name, of) for name, of in fields])
            names = [name for name, _ in fields]
            return lambda value: dict(zip(names, read(_object(value)), strict=True))
    return _SIMPLE[kind]


def _array(convert: Convert) -> Convert:
    def array(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"{_shown(value)} is no array")
        return [None if one is None else convert(one) for one in value]

    return array


def _map(convert: Convert) -> Convert:
    """From an object, or from an array of objects with `key` and `value`, which is how Connect writes some maps."""

    def mapped(value: Any) -> dict[str, Any]:
        if isinstance(value, list) and all(isinstance(one, dict) and "key" in one for one in value):
            value = {str(one["key"]): one.get("value") for one in value}
        return {name: None if one is None else convert(one) for name, one in _object(value).items()}

    return mapped


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} is no object")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _number(value: Any, kind: SqlType) -> int | float | str | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(f"{_shown(value)} is no {kind}")
    return value


def _whole(kind: SqlType) -> Convert:
    whole = whole_number(kind)
    return lambda value: whole(_number(value, kind))


def _double(value: Any) -> float:
    return float(_number(value, DOUBLE))


def _decimal(value: Any, kind: SqlType) -> Decimal:
    found = _number(value, kind)
    return Decimal(repr(found) if isinstance(found, float) else found)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is no BOOLEAN")
    return value


def _string(value: Any) -> str:
    """Text as it is, an object as its JSON, an array as its elements' texts in brackets."""
    match value:
        case str():
            return value
        case Decimal():
            return decimal_text(value)
        case list():
            return f"[{', '.join('null' if one is None else _string(one) for one in value)}]"
    return orjson.dumps(value, default=written).decode()


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is no text in Base64")
    return base64.b64decode(value, validate=True)


_SIMPLE: Final[dict[SqlType, Convert]] = {
    BOOLEAN: _boolean,
    DOUBLE: _double,
    STRING: _string,
    BYTES: _bytes,
    **{kind: _whole(kind) for kind in (INTEGER, BIGINT, TIMESTAMP, DATE, TIME)},
}


def written(value: Any) -> Any:
    """What orjson asks about values that JSON does not have."""
    match value:
        case Decimal():
            return orjson.Fragment(decimal_text(value))
        case bytes():
            return base64.b64encode(value).decode()
    raise TypeError(f"{_shown(value)} cannot be written as JSON")


def with_text_for_special_doubles(value: Any) -> Any:
    """NaN and the infinities as text, since JSON has no numbers for them. The same value where there are none."""
    match value:
        case float() if not math.isfinite(value):
            return double_text(value)
        case list() | tuple():
            made = [with_text_for_special_doubles(one) for one in value]
            return value if all(new is old for new, old in zip(made, value, strict=True)) else made
        case dict():
            fields = {name: with_text_for_special_doubles(one) for name, one in value.items()}
            return value if all(fields[name] is value[name] for name in value) else fields
    return value
