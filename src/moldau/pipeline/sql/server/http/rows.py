"""Rows of queries as JSON: one compiled function for the columns of a query. Pure."""

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson

from moldau.pipeline.sql.queries.row_stream import ResultColumn
from moldau.pipeline.sql.types import (
    BYTES,
    DATE,
    DOUBLE,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.value_texts import date_text, time_text, timestamp_text

Encode = Callable[[Any], Any]


def row_encoder(columns: Sequence[ResultColumn]) -> Callable[[Sequence[Any]], list[Any]]:
    """Makes a list that orjson can write of a row."""
    special = [(index, made) for index, column in enumerate(columns) if (made := _encoder(column.type))]

    def encode(row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for index, made in special:
            value = values[index]
            if value is not None:
                values[index] = made(value)
        return values

    return encode


def json_bytes(value: Any) -> bytes:
    """A string that is no valid Unicode, as half a surrogate pair, is written with question marks."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_valid(value))


def _encoder(kind: SqlType) -> Encode | None:
    """None: the value is written as it is."""
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    match kind:
        case Decimal():
            return lambda value: orjson.Fragment(format(value, "f"))
        case Array(element=element):
            return _array(_encoder(element))
        case Map(value=value):
            return _map(_encoder(value))
        case Struct(fields=fields):
            return _struct([(name, made) for name, of in fields if (made := _encoder(of))])
    return None


def _array(member: Encode | None) -> Encode | None:
    if member is None:
        return None
    return lambda items: [None if item is None else member(item) for item in items]


def _map(member: Encode | None) -> Encode | None:
    if member is None:
        return None
    return lambda entries: {key: None if value is None else member(value) for key, value in entries.items()}


def _struct(special: list[tuple[str, Encode]]) -> Encode | None:
    if not special:
        return None

    def encode(value: dict[str, Any]) -> dict[str, Any]:
        made = dict(value)
        for name, member in special:
            if made.get(name) is not None:
                made[name] = member(made[name])
        return made

    return encode


def _double(value: float) -> float | str:
    """JSON has no infinity; ksqlDB writes such numbers as Java names them."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


_SIMPLE: Final[dict[SqlType, Encode]] = {
    DOUBLE: _double,
    BYTES: lambda value: base64.b64encode(value).decode(),
    DATE: date_text,
    TIME: time_text,
    TIMESTAMP: timestamp_text,
}


def _valid(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_valid(each) for each in value]
        case dict():
            return {_valid(name): _valid(each) for name, each in value.items()}
    return value
