"""Values of Connect as JSON and back: one function for each schema, made once.

Stricter than Kafka's JsonConverter in one way: a value of another type than its schema's is an error, where Kafka reads
0, false or null.
"""

import base64
import binascii
import math
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, NamedTuple

import orjson

from moldau.pipeline.connect.converters.sum_types import first_that_fits, set_field
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import decimal_of, from_plain, scale_of, to_plain
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES, shown
from moldau.pipeline.java_texts.numbers import rounded_float, shortest_float

Convert = Callable[[Any], Any]
_TIMES: Final = (DATE, TIME, TIMESTAMP)
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Form(NamedTuple):
    are_decimals_numbers: bool
    replace_null: bool
    """With the default of its schema."""
    are_entries_objects: bool = False
    """Of maps whose keys are no texts: `{"key": 1, "value": 2}` instead of `[1, 2]`."""
    union: str | None = None
    """The name of structs that are written as the one field that is set."""


def writer(schema: Schema, form: Form) -> Convert:
    """To what orjson writes. Null is handled."""
    write = _of_value(schema, form)
    default = schema.default if form.replace_null else None
    written = None if default is None else write(default)
    if schema.optional or written is not None:
        return lambda value: written if value is None else write(value)

    def required(value: Any) -> Any:
        if value is None:
            raise DataError("it is null, and its schema is required and has no default")
        return write(value)

    return required


def _of_value(schema: Schema, form: Form) -> Convert:
    plain = to_plain(schema)
    if plain is not None and schema.name in _TIMES:
        return plain
    if plain is not None:
        if form.are_decimals_numbers:
            return _decimal_number
        return lambda value: base64.b64encode(plain(value)).decode()
    match schema.type:
        case SchemaType.STRUCT if schema.name is not None and schema.name == form.union:
            return _union_writer(schema, form)
        case SchemaType.STRUCT:
            return _struct_writer(schema, form)
        case SchemaType.ARRAY if schema.value_schema is not None:
            write = writer(schema.value_schema, form)
            return lambda value: [write(one) for one in _expected(value, list | tuple, schema)]
        case SchemaType.MAP if schema.value_schema is not None and schema.key_schema is not None:
            return _map_writer(schema, schema.key_schema, schema.value_schema, form)
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            return _float_writer(schema)
        case SchemaType.BYTES:
            return lambda value: base64.b64encode(
                _expected(value, bytes | bytearray | memoryview, schema)
            ).decode()
        case SchemaType.STRING:
            return lambda value: value if type(value) is str else str(_expected(value, str, schema))
        case SchemaType.BOOLEAN:
            return lambda value: value if type(value) is bool else _expected(value, bool, schema)
    return _whole(schema)


def _whole(schema: Schema) -> Convert:
    low, high = RANGES[schema.type]

    def write(value: Any) -> Any:
        if type(value) is int and low <= value <= high:
            return value
        raise _unfit(value, schema)

    return write


def _float_writer(schema: Schema) -> Convert:
    is_short = schema.type is SchemaType.FLOAT32

    def write(value: Any) -> Any:
        if type(value) is not float and type(value) is not int:
            raise _unfit(value, schema)
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        return shortest_float(value) if is_short else float(value)

    return write


def _struct_writer(schema: Schema, form: Form) -> Convert:
    parts = [(field.name, writer(field.schema, form)) for field in schema.fields]

    def write(value: Any) -> Any:
        if type(value) is not Struct:
            raise _unfit(value, schema)
        if value.schema is not schema and value.schema != schema:
            raise DataError(f"it is a struct of another schema ({value.schema}) than declared ({schema})")
        name = ""
        try:
            made = {}
            for (name, write_one), one in zip(parts, value.values, strict=True):
                made[name] = write_one(one)
            return made
        except DataError as wrong:
            raise _within(name, wrong) from None

    return write


def _union_writer(schema: Schema, form: Form) -> Convert:
    writes = [writer(field.schema, form) for field in schema.fields]

    def write(value: Any) -> Any:
        at, one = set_field(value, schema)
        return writes[at](one)

    return write


def _map_writer(schema: Schema, keys: Schema, values: Schema, form: Form) -> Convert:
    write_key, write = writer(keys, form), writer(values, form)
    if keys.type is SchemaType.STRING:
        return lambda value: {
            write_key(key): write(one) for key, one in _expected(value, dict, schema).items()
        }
    if form.are_entries_objects:
        return lambda value: [
            {"key": write_key(key), "value": write(one)}
            for key, one in _expected(value, dict, schema).items()
        ]
    return lambda value: [[write_key(key), write(one)] for key, one in _expected(value, dict, schema).items()]


def _decimal_number(value: Any) -> Any:
    if type(value) is not Decimal or not value.is_finite():
        raise DataError(f"{value!r} is no Decimal: make it a finite decimal.Decimal")
    return orjson.Fragment(str(value))


def without_schema(value: Any) -> Any:
    """What orjson does not write by itself."""
    match value:
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
        case dict():
            if all(type(key) is str for key in value):
                return {key: without_schema(one) for key, one in value.items()}
            return [[without_schema(key), without_schema(one)] for key, one in value.items()]
        case list() | tuple():
            return [without_schema(one) for one in value]
        case Struct() | Decimal() | date() | datetime() | time():
            raise DataError(
                f"a {type(value).__name__} cannot be written without a schema: give the value a schema, or "
                "convert it to a text or number first, for instance with TimestampConverter"
            )
    return value


def reader(schema: Schema, form: Form) -> Convert:
    """From what a JSON parser gives. Null is handled."""
    read = _from_json(schema, form)
    default = schema.default if form.replace_null else None
    if schema.optional or default is not None:
        return lambda value: default if value is None else read(value)

    def required(value: Any) -> Any:
        if value is None:
            raise DataError("it is null or missing, and its schema is required and has no default")
        return read(value)

    return required


def _from_json(schema: Schema, form: Form) -> Convert:
    plain = from_plain(schema)
    if plain is not None and schema.name in _TIMES:
        return lambda value: plain(_number_of(value, schema))
    if schema.name == DECIMAL:
        return _decimal_reader(schema)
    match schema.type:
        case SchemaType.STRUCT if schema.name is not None and schema.name == form.union:
            reads = [_from_json(one.schema, form) for one in schema.fields]
            return lambda value: first_that_fits(value, schema, reads)
        case SchemaType.STRUCT:
            return _struct_reader(schema, form)
        case SchemaType.ARRAY if schema.value_schema is not None:
            read = reader(schema.value_schema, form)
            return lambda value: [read(one) for one in _expected(value, list, schema)]
        case SchemaType.MAP if schema.value_schema is not None and schema.key_schema is not None:
            return _map_reader(schema, schema.key_schema, schema.value_schema, form)
        case SchemaType.FLOAT32:
            return lambda value: rounded_float(_float_of(value, schema))
        case SchemaType.FLOAT64:
            return lambda value: value if type(value) is float else _float_of(value, schema)
        case SchemaType.BYTES:
            return lambda value: _bytes_of(value, schema)
        case SchemaType.STRING:
            return lambda value: value if type(value) is str else _expected(value, str, schema)
        case SchemaType.BOOLEAN:
            return lambda value: value if type(value) is bool else _expected(value, bool, schema)
    return lambda value: _number_of(value, schema)


def _number_of(value: Any, schema: Schema) -> int:
    if type(value) is not int:
        if type(value) not in (float, Decimal) or value != value // 1:
            raise _unfit(value, schema)
        value = int(value)
    low, high = RANGES[schema.type]
    if not low <= value <= high:
        raise DataError(f"it is {value}, and an {schema.type} lies between {low} and {high}")
    return int(value)


def _float_of(value: Any, schema: Schema) -> float:
    if type(value) is str and value in _SPECIAL:
        return _SPECIAL[value]
    if type(value) not in (float, int, Decimal):
        raise _unfit(value, schema)
    return float(value)


def _bytes_of(value: Any, schema: Schema) -> bytes:
    try:
        return base64.b64decode(_expected(value, str, schema), validate=True)
    except binascii.Error:
        raise DataError(f"{shown(value)} is not base64, which bytes are in JSON") from None


def _decimal_reader(schema: Schema) -> Convert:
    scale = scale_of(schema)

    def read(value: Any) -> Decimal:
        if type(value) is str:
            return decimal_of(_bytes_of(value, schema), scale)
        if type(value) not in (int, float, Decimal):
            raise _unfit(value, schema)
        return value if type(value) is Decimal else Decimal(repr(value))

    return read


def _struct_reader(schema: Schema, form: Form) -> Convert:
    parts = [(field.name, reader(field.schema, form)) for field in schema.fields]

    def read(value: Any) -> Struct:
        if type(value) is not dict:
            raise _unfit(value, schema)
        name = ""
        try:
            made = []
            get = value.get
            for name, read_one in parts:
                made.append(read_one(get(name)))
            return Struct(schema, made)
        except DataError as wrong:
            raise _within(name, wrong) from None

    return read


def _map_reader(schema: Schema, keys: Schema, values: Schema, form: Form) -> Convert:
    read_key, read = reader(keys, form), reader(values, form)
    if keys.type is SchemaType.STRING:
        return lambda value: {key: read(one) for key, one in _expected(value, dict, schema).items()}

    if form.are_entries_objects:
        return lambda value: {
            read_key(key): read(one) for key, one in map(_entry_parts, _expected(value, list, schema))
        }

    def pairs(value: Any) -> dict[Any, Any]:
        found = {}
        for one in _expected(value, list, schema):
            if type(one) is not list or len(one) != 2:
                raise DataError(
                    f"{shown(one)} is no entry of a map whose keys are no texts: an entry is a list of key and value"
                )
            found[read_key(one[0])] = read(one[1])
        return found

    return pairs


def _entry_parts(entry: Any) -> tuple[Any, Any]:
    if type(entry) is not dict or "key" not in entry:
        raise DataError(f'{shown(entry)} is no entry of a map: an entry is an object with "key" and "value"')
    return entry["key"], entry.get("value")


def has_decimals(schema: Schema) -> bool:
    """Then its numbers must be read without rounding."""
    inner = [one.schema for one in schema.fields] + [
        one for one in (schema.key_schema, schema.value_schema) if one is not None
    ]
    return schema.name == DECIMAL or any(has_decimals(one) for one in inner)


def _expected(value: Any, kind: Any, schema: Schema) -> Any:
    if not isinstance(value, kind):
        raise _unfit(value, schema)
    return value


def _unfit(value: Any, schema: Schema) -> DataError:
    return DataError(f"{shown(value)} does not fit its schema {schema}")


def _within(name: str, wrong: DataError) -> DataError:
    text = str(wrong)
    if text.startswith("field "):
        return DataError(f"field {name}.{text.removeprefix('field ')}")
    return DataError(f"field {name}: {text}")
