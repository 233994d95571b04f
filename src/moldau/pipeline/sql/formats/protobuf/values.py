"""Values between messages and SQL, field by field. ValueError where a field does not fit a type."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.sql.expressions.numbers import EXACT, fitted
from moldau.pipeline.sql.formats.json_rows import chosen_fields
from moldau.pipeline.sql.formats.number_ranges import RANGES, whole_number
from moldau.pipeline.sql.formats.protobuf.columns import DECIMAL, MESSAGES, SCALARS, WRAPPERS, is_map
from moldau.pipeline.sql.formats.protobuf.messages import message_class
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType
from moldau.pipeline.sql.value_texts import EPOCH, double_text

Convert = Callable[[Any], Any]

_UINT64: Final = 4
_ENUM: Final = 14


def matching_fields(message: Any, names: Sequence[str]) -> list[Any]:
    """For each name the field of the message that has it, whatever its case, or None."""
    fields = message.fields_by_name
    exact = chosen_fields(list(names), list(fields))
    by_upper = {name.upper(): name for name in fields}
    return [
        fields.get(found or by_upper.get(name.upper(), "")) for name, found in zip(names, exact, strict=True)
    ]


def field_reader(field: Any, kind: SqlType) -> Convert:
    """From the message that has the field. Only fields that know whether they are set can be null."""
    name = field.name
    if is_map(field):
        return _map_reader(field, kind)
    if field.is_repeated:
        if not isinstance(kind, Array):
            raise _unfit(field, kind)
        read = _value_reader(field, kind.element)
        return lambda message: [read(one) for one in getattr(message, name)]
    read = _value_reader(field, kind)
    if field.has_presence:
        return lambda message: read(getattr(message, name)) if message.HasField(name) else None
    return lambda message: read(getattr(message, name))


def _map_reader(field: Any, kind: SqlType) -> Convert:
    if not isinstance(kind, Map):
        raise _unfit(field, kind)
    name, entry = field.name, field.message_type.fields_by_name
    read_key, read = _value_reader(entry["key"], STRING), _value_reader(entry["value"], kind.value)
    return lambda message: {read_key(key): read(value) for key, value in getattr(message, name).items()}


def _value_reader(field: Any, kind: SqlType) -> Convert:
    message = field.message_type
    if message is None:
        return _scalar_reader(field, kind)
    if message.full_name in WRAPPERS:
        read = _scalar_reader(message.fields_by_name["value"], kind)
        return lambda value: read(value.value)
    match kind:
        case DecimalType(precision=precision, scale=scale) if message.full_name == DECIMAL:
            return lambda value: fitted(
                Decimal(int.from_bytes(value.value, "big", signed=True)).scaleb(-value.scale, EXACT),
                precision,
                scale,
            )
        case Struct(fields=fields) if message.full_name not in MESSAGES:
            return _struct_reader(message, fields)
    if MESSAGES.get(message.full_name) != kind:
        raise _unfit(field, kind)
    if kind == TIMESTAMP:
        return lambda value: value.seconds * 1000 + value.nanos // 1_000_000
    if kind == TIME:
        return lambda value: (
            ((value.hours * 60 + value.minutes) * 60 + value.seconds) * 1000 + value.nanos // 1_000_000
        )
    return lambda value: (EPOCH.replace(value.year, value.month, value.day) - EPOCH).days


def _struct_reader(message: Any, fields: Sequence[tuple[str, SqlType]]) -> Convert:
    found = matching_fields(message, [name for name, _ in fields])
    parts = [
        (name, _nothing if field is None else field_reader(field, kind))
        for (name, kind), field in zip(fields, found, strict=True)
    ]
    return lambda value: {name: read(value) for name, read in parts}


def _scalar_reader(field: Any, kind: SqlType) -> Convert:
    given = SCALARS.get(field.type)
    if field.type == _ENUM and kind == STRING:
        names = {value.number: value.name for value in field.enum_type.values}
        return lambda number: names.get(number, str(number))
    if given == kind:
        return whole_number(BIGINT) if field.type == _UINT64 else _same
    if (given, kind) == (INTEGER, BIGINT):
        return _same
    if kind == DOUBLE and given in (INTEGER, BIGINT):
        return float
    if kind == STRING and given in (INTEGER, BIGINT, DOUBLE, BOOLEAN):
        return {BOOLEAN: _boolean_text, DOUBLE: double_text}.get(given, str)
    raise _unfit(field, kind)


def field_writer(field: Any, kind: SqlType) -> Convert:
    """To what the message's class takes for the field, from a value that is not null."""
    name = field.name
    if is_map(field):
        if not isinstance(kind, Map) or SCALARS.get(field.message_type.fields_by_name["key"].type) != STRING:
            raise _unfit(field, kind)
        write = _value_writer(field.message_type.fields_by_name["value"], kind.value)
        return lambda value: {key: write(_not_null(one, name)) for key, one in value.items()}
    if field.is_repeated:
        if not isinstance(kind, Array):
            raise _unfit(field, kind)
        write = _value_writer(field, kind.element)
        return lambda value: [write(_not_null(one, name)) for one in value]
    return _value_writer(field, kind)


def _not_null(value: Any, name: str) -> Any:
    if value is None:
        raise ValueError(f"Protobuf has no NULL inside an array or a map, and {name} has one")
    return value


def _value_writer(field: Any, kind: SqlType) -> Convert:
    message = field.message_type
    if message is None:
        return _scalar_writer(field, kind)
    make = message_class(message)
    if message.full_name in WRAPPERS:
        write = _scalar_writer(message.fields_by_name["value"], kind)
        return lambda value: make(value=write(value))
    match kind:
        case DecimalType(precision=precision, scale=scale) if message.full_name == DECIMAL:
            return _decimal_writer(make, precision, scale)
        case Struct(fields=fields) if message.full_name not in MESSAGES:
            return _struct_writer(message, make, fields)
    if MESSAGES.get(message.full_name) != kind:
        raise _unfit(field, kind)
    if kind == TIMESTAMP:
        return lambda value: make(seconds=value // 1000, nanos=value % 1000 * 1_000_000)
    if kind == TIME:
        return lambda value: make(
            hours=value // 3_600_000,
            minutes=value // 60_000 % 60,
            seconds=value // 1000 % 60,
            nanos=value % 1000 * 1_000_000,
        )

    def date(value: int) -> Any:
        day = EPOCH + timedelta(days=value)
        return make(year=day.year, month=day.month, day=day.day)

    return date


def _struct_writer(message: Any, make: Any, fields: Sequence[tuple[str, SqlType]]) -> Convert:
    found = matching_fields(message, [name for name, _ in fields])
    parts = []
    for (name, kind), field in zip(fields, found, strict=True):
        if field is None:
            raise ValueError(f"the message {message.full_name} has no field {name}")
        parts.append((name, field.name, field_writer(field, kind)))

    def struct(value: dict[str, Any]) -> Any:
        return make(
            **{target: write(value[name]) for name, target, write in parts if value[name] is not None}
        )

    return struct


def _decimal_writer(make: Any, precision: int, scale: int) -> Convert:
    def decimal(value: Decimal) -> Any:
        unscaled = int(fitted(value, precision, scale).scaleb(scale, EXACT))
        size = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
        return make(value=unscaled.to_bytes(size, "big", signed=True), precision=precision, scale=scale)

    return decimal


def _scalar_writer(field: Any, kind: SqlType) -> Convert:
    given = SCALARS.get(field.type)
    if field.type == _ENUM and kind == STRING:
        numbers = {value.name: value.number for value in field.enum_type.values}
        return lambda name: _enum_number(numbers, name)
    if given == kind or (given, kind) == (BIGINT, INTEGER):
        return whole_number(kind) if kind in RANGES else _same
    raise _unfit(field, kind)


def _enum_number(numbers: dict[str, int], name: str) -> int:
    if name not in numbers:
        raise ValueError(f"{name!r} is none of {', '.join(numbers)}")
    return numbers[name]


def _unfit(field: Any, kind: SqlType) -> ValueError:
    message = field.message_type
    given = message.full_name if message is not None else SCALARS.get(field.type, "a group")
    shown = f"{'repeated ' if field.is_repeated else ''}{given}"
    return ValueError(f"the field {field.name} of Protobuf ({shown}) does not fit {kind}")


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


def _same(value: Any) -> Any:
    return value


def _nothing(_: Any) -> None:
    return None
