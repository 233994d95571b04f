"""JSON: an object with a field for each column, or a single column by itself.

Fields are found whatever their case. What most records look like costs two look-ups: one by their field names, one
by the types of their values; only what was not seen before is looked at value by value.
"""

import base64
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final

import orjson

from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.expressions.numbers import fitted
from moldau.pipeline.sql.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    INTEGER_MAX,
    INTEGER_MIN,
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

Convert = Callable[[Any], Any]

SHAPES_MAX: Final = 1_000
"""How many kinds of objects are remembered; beyond that each is looked at anew."""

_EXACT: Final[dict[SqlType, type]] = {BOOLEAN: bool, DOUBLE: float, STRING: str}
"""A value of this type needs no conversion."""


class JsonRowSerde(Serde):
    def __init__(self, columns: Sequence[Column], *, is_wrapped: bool = True) -> None:
        self._columns = tuple(columns)
        self._is_wrapped = is_wrapped or len(columns) != 1

    @property
    def name(self) -> str:
        return f"json({'' if self._is_wrapped else 'single '}{', '.join(map(str, self._columns))})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        names = [column.name for column in self._columns]
        if not names:
            return lambda row: None if row is None or is_key else b"{}"
        if not self._is_wrapped:
            return lambda row: None if row is None else orjson.dumps(row[0], default=_written)

        def encode(row: Any) -> bytes | None:
            return None if row is None else orjson.dumps(dict(zip(names, row, strict=True)), default=_written)

        return encode

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        parse = _exact_json if any(_has_decimal(column.type) for column in self._columns) else orjson.loads
        if not self._columns:
            return lambda data: None if data is None or is_key else ()
        if not self._is_wrapped:
            convert = converter(self._columns[0].type)

            def decode_single(data: bytes | None) -> Any:
                if data is None:
                    return None
                found = parse(data)
                return None if found is None else (convert(found),)

            return decode_single
        row_of = RowReader(self._columns)

        def decode(data: bytes | None) -> Any:
            if data is None:
                return None
            found = parse(data)
            if type(found) is dict:
                return row_of(found)
            if found is None:
                return None
            raise ValueError(f"the JSON is no object but {type(found).__name__}: {data[:60]!r}")

        return decode


class RowReader:
    """The columns of an object as a tuple."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._converters = [converter(column.type) for column in columns]
        self._getters: dict[tuple[str, ...], Callable[[dict[str, Any]], tuple[Any, ...]]] = {}
        self._plain: set[tuple[type, ...]] = set()
        """Types of values of rows that are right as they are."""

    def __call__(self, fields: dict[str, Any]) -> tuple[Any, ...]:
        names = tuple(fields)
        getter = self._getters.get(names)
        if getter is None:
            getter = self._getter(names)
            if len(self._getters) < SHAPES_MAX:
                self._getters[names] = getter
        row = getter(fields)
        types = tuple(map(type, row))
        if types in self._plain:
            return row
        return self._converted(row, types)

    def _getter(self, names: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
        by_upper = {name.upper(): name for name in reversed(names)}
        chosen = [
            column.name if column.name in names else by_upper.get(column.name.upper())
            for column in self._columns
        ]
        if None not in chosen and len(chosen) > 1:
            return itemgetter(*chosen)
        return lambda fields: tuple(None if name is None else fields[name] for name in chosen)

    def _converted(self, row: tuple[Any, ...], types: tuple[type, ...]) -> tuple[Any, ...]:
        made = []
        for column, convert, value in zip(self._columns, self._converters, row, strict=True):
            try:
                made.append(None if value is None else convert(value))
            except (ValueError, TypeError, ArithmeticError) as wrong:
                raise ValueError(f"column {column.name}: {wrong}") from None
        is_plain = all(
            kind is type(None) or _EXACT.get(column.type) is kind
            for column, kind in zip(self._columns, types, strict=True)
        )
        if is_plain and len(self._plain) < SHAPES_MAX:
            self._plain.add(types)
        return tuple(made)


def converter(kind: SqlType) -> Convert:
    """A JSON value that is not null as a value of the type; ValueError where it is none."""
    match kind:
        case DecimalType(precision=precision, scale=scale):
            return lambda value: fitted(_decimal(value), precision, scale)
        case Array(element=element):
            return _array(converter(element))
        case Map(value=of):
            return _map(converter(of))
        case Struct(fields=fields):
            columns = [Column(name, of) for name, of in fields]
            read = RowReader(columns)
            names = [name for name, _ in fields]
            return lambda value: dict(zip(names, read(_object(value)), strict=True))
    return _SIMPLE[kind]


def _array(convert: Convert) -> Convert:
    def array(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is no array")
        return [None if one is None else convert(one) for one in value]

    return array


def _map(convert: Convert) -> Convert:
    return lambda value: {name: None if one is None else convert(one) for name, one in _object(value).items()}


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no object")
    return value


def _whole(low: int, high: int, name: str) -> Convert:
    def whole(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise ValueError(f"{value!r} is no {name}")
        found = int(value)
        if not low <= found <= high:
            raise ValueError(f"{value!r} is too large for {name}")
        return found

    return whole


def _double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(f"{value!r} is no DOUBLE")
    return float(value)


def _decimal(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(f"{value!r} is no DECIMAL")
    return Decimal(repr(value) if isinstance(value, float) else value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is no BOOLEAN")
    return value


def _string(value: Any) -> str:
    """Text as it is; anything else as its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return str(value)
    return orjson.dumps(value, default=_written).decode()


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text in Base64")
    return base64.b64decode(value, validate=True)


_SIMPLE: Final[dict[SqlType, Convert]] = {
    BOOLEAN: _boolean,
    INTEGER: _whole(INTEGER_MIN, INTEGER_MAX, "INTEGER"),
    BIGINT: _whole(BIGINT_MIN, BIGINT_MAX, "BIGINT"),
    DOUBLE: _double,
    STRING: _string,
    BYTES: _bytes,
    TIMESTAMP: _whole(BIGINT_MIN, BIGINT_MAX, "TIMESTAMP"),
    DATE: _whole(INTEGER_MIN, INTEGER_MAX, "DATE"),
    TIME: _whole(0, 86_399_999, "TIME"),
}


def _written(value: Any) -> Any:
    match value:
        case Decimal():
            return orjson.Fragment(format(value, "f"))
        case bytes():
            return base64.b64encode(value).decode()
    raise TypeError(f"{value!r} cannot be written as JSON")


def _exact_json(data: bytes) -> Any:
    """With every fraction as a decimal, digit by digit."""
    return json.loads(data, parse_float=Decimal)


def _has_decimal(kind: SqlType) -> bool:
    match kind:
        case DecimalType():
            return True
        case Array(element=element):
            return _has_decimal(element)
        case Map(value=of):
            return _has_decimal(of)
        case Struct(fields=fields):
            return any(_has_decimal(of) for _, of in fields)
    return False
