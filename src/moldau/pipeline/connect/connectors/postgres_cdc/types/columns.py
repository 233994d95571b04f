"""The schema of a column, and how its text is read: what Debezium's documentation says about each type."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from struct import pack
from typing import Any, Final, NamedTuple

import orjson

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.postgres_cdc.types import moments
from moldau.pipeline.connect.connectors.postgres_cdc.types.nested_texts import array_of, hstore_of
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.logical import date_of, moment_of, time_of, unscaled_bytes
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

Read = Callable[[str], Any]
_NO_MODIFIER: Final = -1
_HEADER: Final = 4
"""PostgreSQL's modifiers of numeric count from 4."""


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """A type of the database, from its catalog. Domains are resolved to the type they are based on."""

    name: str
    kind: str = "b"
    """pg_type.typtype: b a base type, c composite, e an enum, r a range, m a multirange."""
    labels: tuple[str, ...] = ()
    """Of an enum."""
    element: "TypeInfo | None" = None
    """Of an array."""
    modifier: int = _NO_MODIFIER
    """Of a domain: numeric(9,2)."""


@dataclass(frozen=True, slots=True)
class Modes:
    """The settings that say how types are represented."""

    decimal: str = "precise"
    time: str = "adaptive"
    interval: str = "numeric"
    binary: str = "bytes"
    hstore: str = "json"
    money_digits: int = 2
    unavailable: str = "__debezium_unavailable_value"
    with_unknown: bool = False


class ColumnType(NamedTuple):
    schema: Schema
    read: Read


def column_type(info: TypeInfo, modifier: int, modes: Modes) -> ColumnType | None:
    """Not optional. None for a type that cannot be represented."""
    if info.modifier != _NO_MODIFIER:
        modifier = info.modifier
    if info.element is not None:
        return _array(info.element, modifier, modes)
    if info.kind == "e":
        return ColumnType(_named("io.debezium.data.Enum", allowed=",".join(info.labels)), str)
    if info.kind in "rm":
        return ColumnType(schemas.STRING, str)
    if info.name in _PLAIN:
        return _PLAIN[info.name]
    make = _BY_MODE.get(info.name)
    if make is not None:
        return make(modifier, modes)
    return ColumnType(schemas.BYTES, str.encode) if modes.with_unknown else None


def fallback(schema: Schema) -> Any:
    """Of a column that does not allow null, where the log has no value: a deleted row has only its key."""
    if schema.optional:
        return None
    if schema.type is SchemaType.STRUCT:
        return Struct(schema, [fallback(one.schema) for one in schema.fields])
    made = _FALLBACKS.get(schema.name or "") or _FALLBACKS.get(schema.type)
    return 0 if made is None else made()


def unavailable(schema: Schema, modes: Modes) -> Any:
    """Of a large value that an update did not touch: the log does not have it."""
    text = modes.unavailable
    match schema.type:
        case SchemaType.STRING:
            return text
        case SchemaType.BYTES if schema.name != schemas.DECIMAL:
            return text.encode()
        case SchemaType.ARRAY if schema.value_schema is not None:
            return [unavailable(schema.value_schema, modes)]
        case SchemaType.MAP:
            return {text: text}
    return fallback(schema)


def _named(name: str, kind: SchemaType = SchemaType.STRING, **parameters: str) -> Schema:
    return Schema(kind, name=name, version=1, parameters=parameters)


def _array(element: TypeInfo, modifier: int, modes: Modes) -> ColumnType | None:
    found = column_type(element, modifier, modes)
    if found is None:
        return None
    read = found.read
    schema = schemas.array(replace(found.schema, optional=True))
    return ColumnType(schema, lambda text: array_of(text, read))


def _numeric(modifier: int, modes: Modes) -> ColumnType:
    if modifier < _HEADER:
        if modes.decimal == "precise":
            return ColumnType(_VARIABLE_DECIMAL, _variable_decimal)
        return _decimal(0, "", modes)
    precision = (modifier - _HEADER) >> 16
    scale = (((modifier - _HEADER) & 0x7FF) ^ 1024) - 1024
    return _decimal(scale, str(precision), modes)


def _decimal(scale: int, precision: str, modes: Modes) -> ColumnType:
    match modes.decimal:
        case "string":
            return ColumnType(schemas.STRING, str)
        case "double":
            return ColumnType(schemas.FLOAT64, float)
    parameters = {schemas.SCALE: str(scale)}
    if precision:
        parameters["connect.decimal.precision"] = precision
    return ColumnType(replace(schemas.decimal(scale), parameters=parameters), _finite)


def _finite(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite():
        raise ConnectError(
            f"A numeric column holds {text}, which a Decimal cannot represent: "
            "set decimal.handling.mode to double or string"
        )
    return value


def _variable_decimal(text: str) -> Struct:
    value = _finite(text)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    return Struct(_VARIABLE_DECIMAL, (scale, unscaled_bytes(value, scale)))


def _money(modifier: int, modes: Modes) -> ColumnType:
    digits = modes.money_digits
    made = _decimal(digits, "", modes)

    def read(text: str) -> Any:
        # With lc_monetary C: -$1,234.50
        value = Decimal(text.replace("$", "").replace(",", "")).quantize(Decimal(1).scaleb(-digits))
        return value if modes.decimal == "precise" else made.read(str(value))

    return ColumnType(made.schema, read)


def _date(modifier: int, modes: Modes) -> ColumnType:
    if modes.time == "connect":
        return ColumnType(schemas.date(), lambda text: date_of(moments.days_of(text)))
    return ColumnType(_named("io.debezium.time.Date", SchemaType.INT32), moments.days_of)


def _time(modifier: int, modes: Modes) -> ColumnType:
    if modes.time == "connect":
        return ColumnType(schemas.time(), lambda text: time_of(moments.time_us_of(text) // 1000))
    if modes.time == "adaptive" and 0 <= modifier <= 3:
        return ColumnType(
            _named("io.debezium.time.Time", SchemaType.INT32), lambda text: moments.time_us_of(text) // 1000
        )
    return ColumnType(_named("io.debezium.time.MicroTime", SchemaType.INT64), moments.time_us_of)


def _timestamp(modifier: int, modes: Modes) -> ColumnType:
    if modes.time == "connect":
        return ColumnType(schemas.timestamp(), lambda text: moment_of(moments.moment_us_of(text) // 1000))
    if 0 <= modifier <= 3:
        return ColumnType(_named("io.debezium.time.Timestamp", SchemaType.INT64), _moment_ms)
    return ColumnType(_named("io.debezium.time.MicroTimestamp", SchemaType.INT64), moments.moment_us_of)


def _moment_ms(text: str) -> int:
    us = moments.moment_us_of(text)
    return us if "infinity" in text else us // 1000


def _timestamptz(modifier: int, modes: Modes) -> ColumnType:
    digits = 6 if modifier < 0 else modifier
    schema = _named("io.debezium.time.ZonedTimestamp")
    return ColumnType(schema, lambda text: moments.moment_text(text, digits))


def _timetz(modifier: int, modes: Modes) -> ColumnType:
    digits = 6 if modifier < 0 else modifier
    return ColumnType(
        _named("io.debezium.time.ZonedTime"), lambda text: moments.zoned_time_text(text, digits)
    )


def _interval(modifier: int, modes: Modes) -> ColumnType:
    if modes.interval == "string":
        return ColumnType(_named("io.debezium.time.Interval"), moments.interval_text)
    return ColumnType(_named("io.debezium.time.MicroDuration", SchemaType.INT64), moments.interval_us)


def _bytea(modifier: int, modes: Modes) -> ColumnType:
    match modes.binary:
        case "base64":
            return ColumnType(schemas.STRING, lambda text: base64.b64encode(_bytes(text)).decode())
        case "base64-url-safe":
            return ColumnType(schemas.STRING, lambda text: base64.urlsafe_b64encode(_bytes(text)).decode())
        case "hex":
            return ColumnType(schemas.STRING, lambda text: text[2:])
    return ColumnType(schemas.BYTES, _bytes)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def _bit(modifier: int, modes: Modes) -> ColumnType:
    if modifier == 1:
        return ColumnType(schemas.BOOLEAN, lambda text: text == "1")
    return _varbit(modifier, modes)


def _varbit(modifier: int, modes: Modes) -> ColumnType:
    length = modifier if modifier > 0 else (1 << 31) - 1
    return ColumnType(_named("io.debezium.data.Bits", SchemaType.BYTES, length=str(length)), _bits)


def _bits(text: str) -> bytes:
    """The rightmost bit is the lowest one of the first byte."""
    return int(text or "0", 2).to_bytes((len(text) + 7) // 8, "little")


def _hstore(modifier: int, modes: Modes) -> ColumnType:
    if modes.hstore == "map":
        values = replace(schemas.STRING, optional=True)
        return ColumnType(schemas.mapping(schemas.STRING, values), hstore_of)
    return ColumnType(_JSON, lambda text: orjson.dumps(hstore_of(text)).decode())


def _point(text: str) -> Struct:
    x, _, y = text.strip("()").partition(",")
    return Struct(_POINT, (float(x), float(y), b"\x01" + pack("<Idd", 1, float(x), float(y)), None))


_FALLBACKS: Final[Mapping[str, Callable[[], Any]]] = {
    schemas.DECIMAL: Decimal,
    schemas.DATE: lambda: date_of(0),
    schemas.TIME: lambda: time_of(0),
    schemas.TIMESTAMP: lambda: moment_of(0),
    SchemaType.STRING: str,
    SchemaType.BYTES: bytes,
    SchemaType.BOOLEAN: bool,
    SchemaType.FLOAT32: float,
    SchemaType.FLOAT64: float,
    SchemaType.ARRAY: list,
    SchemaType.MAP: dict,
}
"""By the name of a logical type, or by the type. Other types are whole numbers."""
_JSON: Final = _named("io.debezium.data.Json")
_VARIABLE_DECIMAL: Final = schemas.struct(
    {"scale": schemas.INT32, "value": schemas.BYTES}, name="io.debezium.data.VariableScaleDecimal", version=1
)
_POINT: Final = schemas.struct(
    {
        "x": schemas.FLOAT64,
        "y": schemas.FLOAT64,
        "wkb": replace(schemas.BYTES, optional=True),
        "srid": replace(schemas.INT32, optional=True),
    },
    name="io.debezium.data.geometry.Point",
    version=1,
)
_TEXTS: Final = (
    *("text", "varchar", "bpchar", "char", "name", "citext", "inet", "cidr", "macaddr", "macaddr8"),
    *("txid_snapshot", "pg_lsn"),
)
_PLAIN: Final[Mapping[str, ColumnType]] = {
    **dict.fromkeys(_TEXTS, ColumnType(schemas.STRING, str)),
    "bool": ColumnType(schemas.BOOLEAN, lambda text: text == "t"),
    "int2": ColumnType(schemas.INT16, int),
    "int4": ColumnType(schemas.INT32, int),
    "int8": ColumnType(schemas.INT64, int),
    "oid": ColumnType(schemas.INT64, int),
    "float4": ColumnType(schemas.FLOAT32, float),
    "float8": ColumnType(schemas.FLOAT64, float),
    "json": ColumnType(_JSON, str),
    "jsonb": ColumnType(_JSON, str),
    "xml": ColumnType(_named("io.debezium.data.Xml"), str),
    "uuid": ColumnType(_named("io.debezium.data.Uuid"), str),
    "ltree": ColumnType(_named("io.debezium.data.Ltree"), str),
    "tsvector": ColumnType(_named("io.debezium.data.Tsvector"), str),
    "point": ColumnType(_POINT, _point),
}
_BY_MODE: Final[Mapping[str, Callable[[int, Modes], ColumnType]]] = {
    "numeric": _numeric,
    "money": _money,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "timetz": _timetz,
    "interval": _interval,
    "bytea": _bytea,
    "bit": _bit,
    "varbit": _varbit,
    "hstore": _hstore,
}
