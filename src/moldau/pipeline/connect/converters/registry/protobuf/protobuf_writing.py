"""Values of Connect as Protobuf messages. Pure.

Protobuf has no null: a field that is null is left out. Inside arrays and maps it is an error.
"""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.connect.converters.registry.leaf_values import (
    Convert,
    expected,
    leaf_writer,
    struct_values,
    within,
)
from moldau.pipeline.connect.converters.registry.protobuf.messages import message_class
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_reading import is_map
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_schemas import (
    MESSAGES,
    PRECISION,
    PRECISION_DEFAULT,
    is_union,
)
from moldau.pipeline.connect.converters.sum_types import set_field
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import ms_of, ms_of_time, scale_of, unscaled_bytes
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType

_ENUM: Final = 14
_WRAPPED: Final = "value"


def message_writer(message: Any, schema: Schema) -> Convert:
    """`message` has a field for each of the schema's."""
    make = message_class(message)
    parts = [(one, _field_writer(message, one.name, one.schema)) for one in schema.fields]

    def write(value: Any) -> Any:
        name = ""
        try:
            made: dict[str, Any] = {}
            for (field, write_one), one in zip(parts, struct_values(value, schema), strict=True):
                name = field.name
                found = field.schema.default if one is None else one
                if found is not None:
                    made.update(write_one(found))
                elif not field.schema.optional:
                    raise DataError("it is null, and its schema is required and has no default")
            return make(**made)
        except (ValueError, TypeError, ArithmeticError, DataError) as wrong:
            raise within(name, wrong) from None

    return write


def _field_writer(message: Any, name: str, schema: Schema) -> Convert:
    """To the one argument, or none, that the message's class takes for the field."""
    if is_union(schema):
        members = [(one.name, _field_writer(message, one.name, one.schema)) for one in schema.fields]

        def union(value: Any) -> dict[str, Any]:
            at, one = set_field(value, schema)
            return dict(members[at][1](one))

        return union
    field = message.fields_by_name.get(name)
    if field is None:
        raise DataError(
            f"the message {message.full_name} has no field {name}: add it to the schema in the registry"
        )
    write = _whole_writer(field, schema)
    return lambda value: {name: write(value)}


def _whole_writer(field: Any, schema: Schema) -> Convert:
    if is_map(field):
        if schema.key_schema is None or schema.value_schema is None:
            raise _unfit(field, schema)
        entry = field.message_type.fields_by_name
        write_key = _value_writer(entry["key"], schema.key_schema)
        write = _value_writer(entry["value"], schema.value_schema)
        return lambda value: {
            write_key(key): write(_not_null(one)) for key, one in expected(value, dict, schema).items()
        }
    if field.is_repeated:
        if schema.type is not SchemaType.ARRAY or schema.value_schema is None:
            raise _unfit(field, schema)
        write = _value_writer(field, schema.value_schema)
        return lambda value: [write(_not_null(one)) for one in expected(value, list | tuple, schema)]
    return _value_writer(field, schema)


def _value_writer(field: Any, schema: Schema) -> Convert:
    message = field.message_type
    if message is None:
        if schema.type in (SchemaType.STRUCT, SchemaType.ARRAY, SchemaType.MAP):
            raise _unfit(field, schema)
        return _enum_writer(field) if field.type == _ENUM else leaf_writer(schema)
    if schema.type is SchemaType.STRUCT:
        return message_writer(message, schema)
    make = message_class(message)
    if schema.name in MESSAGES and MESSAGES[schema.name][0] == message.full_name:
        return _logical_writer(make, schema)
    if message.full_name.startswith("google.protobuf.") and _WRAPPED in message.fields_by_name:
        write = leaf_writer(schema)
        return lambda value: make(value=write(value))
    raise _unfit(field, schema)


def _logical_writer(make: Any, schema: Schema) -> Convert:
    if schema.name == DECIMAL:
        scale = scale_of(schema)
        precision = int(schema.parameters.get(PRECISION, PRECISION_DEFAULT))
        return lambda value: make(
            value=unscaled_bytes(expected(value, Decimal, schema), scale), precision=precision, scale=scale
        )
    if schema.name == TIMESTAMP:

        def timestamp(value: Any) -> Any:
            seconds, ms = divmod(ms_of(expected(value, datetime, schema)), 1000)
            return make(seconds=seconds, nanos=ms * 1_000_000)

        return timestamp
    if schema.name == TIME:

        def time_of_day(value: Any) -> Any:
            ms = ms_of_time(expected(value, time, schema))
            return make(
                hours=value.hour, minutes=value.minute, seconds=value.second, nanos=ms % 1000 * 1_000_000
            )

        return time_of_day
    assert schema.name == DATE
    return lambda value: make(year=expected(value, date, schema).year, month=value.month, day=value.day)


def _enum_writer(field: Any) -> Convert:
    numbers = {value.name: value.number for value in field.enum_type.values}

    def write(value: Any) -> int:
        if value not in numbers:
            raise DataError(f"{value!r} is none of {', '.join(numbers)}")
        return int(numbers[value])

    return write


def _not_null(value: Any) -> Any:
    if value is None:
        raise DataError("Protobuf has no null inside arrays and maps")
    return value


def _unfit(field: Any, schema: Schema) -> DataError:
    message = field.message_type
    given = "a plain type" if message is None else message.full_name
    shown = f"{'repeated ' if field.is_repeated else ''}{given}"
    return DataError(f"the field {field.name} of the Protobuf schema ({shown}) does not fit {schema}")
