"""Converts decoded values to column values of a given type, and rows back to values for codecs. For `moldau.spark` and
`transform`.

Strict: a value that does not fit its column raises, so that the error concerns one record and not its whole batch.
"""

import base64
import datetime
import decimal
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from moldau.core.errors import ConfigError
from moldau.pipeline.serdes import BOOLEAN, DOUBLE, FLOAT, INT, LONG, SHORT, STRING, Serde

Convert = Callable[[Any], Any]

PLAIN: Final[Mapping[str, tuple[DataType, Serde]]] = {
    "string": (StringType(), STRING),
    "long": (LongType(), LONG),
    "int": (IntegerType(), INT),
    "short": (ShortType(), SHORT),
    "double": (DoubleType(), DOUBLE),
    "float": (FloatType(), FLOAT),
    "boolean": (BooleanType(), BOOLEAN),
}
"""The serdes of plain types by name, and their column types."""

_BITS: dict[type[DataType], int] = {ByteType: 8, ShortType: 16, IntegerType: 32, LongType: 64}


def to_row(kind: DataType) -> Convert:
    """None stays None."""
    convert = _strict(kind)
    return lambda value: None if value is None else convert(value)


def from_row(kind: DataType, *, as_json: bool) -> Convert:
    """Takes values from Arrow, where maps are lists of pairs. JSON has no bytes, times and decimals."""
    convert = _plain(kind, as_json)
    return lambda value: None if value is None else convert(value)


def _strict(kind: DataType) -> Convert:
    if isinstance(kind, StructType):
        return _struct(kind)
    if isinstance(kind, ArrayType):
        element = to_row(kind.elementType)
        return lambda value: [element(one) for one in _of(value, list, kind)]
    if isinstance(kind, MapType):
        inner = to_row(kind.valueType)
        return lambda value: [(str(key), inner(one)) for key, one in _of(value, dict, kind).items()]
    if type(kind) in _BITS:
        return _whole(kind, _BITS[type(kind)])
    simple = _SIMPLE.get(type(kind))
    if simple is not None:
        return simple
    if isinstance(kind, DecimalType):
        step = decimal.Decimal(1).scaleb(-kind.scale)
        return lambda value: decimal.Decimal(str(value)).quantize(step)
    raise ConfigError(
        f"a column of type {kind.simpleString()} cannot be decoded: declare it as STRING and convert it"
    )


def _struct(kind: StructType) -> Convert:
    fields = [(field.name, to_row(field.dataType)) for field in kind.fields]

    def convert(value: Any) -> dict[str, Any]:
        given = _of(value, dict, kind)
        found = {}
        for name, inner in fields:
            try:
                found[name] = inner(given.get(name))
            except (ValueError, TypeError) as failure:
                raise ValueError(f"field {name}: {failure}") from None
        return found

    return convert


def _of(value: Any, expected: type, kind: DataType) -> Any:
    if not isinstance(value, expected):
        raise ValueError(f"{value!r:.80} is no {kind.simpleString():.80}")
    return value


def _whole(kind: DataType, bits: int) -> Convert:
    limit = 1 << (bits - 1)

    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not -limit <= value < limit:
            raise ValueError(f"{value!r:.80} is no {kind.simpleString()}")
        return value

    return convert


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r:.80} is no number")
    return float(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r:.80} is no boolean")
    return value


def _text(value: Any) -> str:
    """For other types their JSON, like Spark's JSON reader."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    return orjson.dumps(value, default=str).decode()


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if not isinstance(value, bytes):
        raise ValueError(f"{value!r:.80} is not bytes")
    return value


def _moment(value: Any) -> datetime.datetime:
    """Numbers are seconds since 1970, as in Spark's cast."""
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = datetime.datetime.fromtimestamp(value, datetime.UTC)
    if not isinstance(value, datetime.datetime):
        raise ValueError(f"{value!r:.80} is no time")
    return value if value.tzinfo else value.replace(tzinfo=datetime.UTC)


def _date(value: Any) -> datetime.date:
    if isinstance(value, str):
        return datetime.date.fromisoformat(value)
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise ValueError(f"{value!r:.80} is no date")
    return value


_SIMPLE: dict[type[DataType], Convert] = {
    StringType: _text,
    BinaryType: _bytes,
    BooleanType: _boolean,
    DoubleType: _real,
    FloatType: _real,
    TimestampType: _moment,
    TimestampNTZType: lambda value: _moment(value).replace(tzinfo=None),
    DateType: _date,
}


def _same(value: Any) -> Any:
    return value


def _plain(kind: DataType, as_json: bool) -> Convert:
    if isinstance(kind, StructType):
        fields = [(field.name, from_row(field.dataType, as_json=as_json)) for field in kind.fields]
        return lambda row: {name: inner(row[name]) for name, inner in fields}
    if isinstance(kind, ArrayType):
        element = from_row(kind.elementType, as_json=as_json)
        return lambda values: [element(one) for one in values]
    if isinstance(kind, MapType):
        inner = from_row(kind.valueType, as_json=as_json)
        return lambda pairs: {key: inner(value) for key, value in pairs}
    if as_json and isinstance(kind, BinaryType):
        return lambda data: base64.b64encode(data).decode()
    if as_json and isinstance(kind, DateType | TimestampType | TimestampNTZType):
        return lambda moment: moment.isoformat()
    if as_json and isinstance(kind, DecimalType):
        return float
    return _same
