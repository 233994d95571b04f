"""Values of Connect as the plain ones that libraries of formats take, and back: one function for each schema.

A struct is a dict. The format says what becomes of bytes, of logical types and of maps.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import python_type
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES, TYPES, shown

Convert = Callable[[Any], Any]

KEY: Final = "key"
VALUE: Final = "value"
"""Of an entry."""


class MapForm(Enum):
    DICT = "a dict"
    PAIRS = "a list of tuples of key and value"
    ENTRIES = "a list of dicts with key and value"


class Form(NamedTuple):
    leaf: Callable[[Schema], Convert | None]
    """For a value that is no array, map or struct, after its type has been checked. None: as it is."""
    map_form: Callable[[Schema], MapForm]


def to_plain(schema: Schema, form: Form) -> Convert:
    """Null becomes the default. The result raises DataError for a value that does not fit its schema."""
    convert = _of_type(schema, form)
    default = None if schema.default is None else convert(schema.default)
    if schema.optional or default is not None:
        return lambda value: default if value is None else convert(value)

    def required(value: Any) -> Any:
        if value is None:
            raise DataError("it is null, and its schema is required and has no default")
        return convert(value)

    return required


def _of_type(schema: Schema, form: Form) -> Convert:
    if python_type(schema) is not None:
        return _leaf(schema, form)
    match schema.type:
        case SchemaType.STRUCT:
            return _struct(schema, form)
        case SchemaType.ARRAY if schema.value_schema is not None:
            inner = to_plain(schema.value_schema, form)
            return lambda value: [inner(one) for one in _checked(value, (list, tuple), schema)]
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            key_of, inner = to_plain(schema.key_schema, form), to_plain(schema.value_schema, form)
            return _map(schema, form.map_form(schema), key_of, inner)
    return _leaf(schema, form)


def _map(schema: Schema, form: MapForm, key_of: Convert, inner: Convert) -> Convert:
    match form:
        case MapForm.DICT:
            return lambda value: {
                key_of(key): inner(one) for key, one in _checked(value, (dict,), schema).items()
            }
        case MapForm.PAIRS:
            return lambda value: [
                (key_of(key), inner(one)) for key, one in _checked(value, (dict,), schema).items()
            ]
    return lambda value: [
        {KEY: key_of(key), VALUE: inner(one)} for key, one in _checked(value, (dict,), schema).items()
    ]


def _leaf(schema: Schema, form: Form) -> Convert:
    logical, convert = python_type(schema), form.leaf(schema)
    kinds: tuple[type, ...] = TYPES[schema.type] if logical is None else (logical,)
    low, high = RANGES.get(schema.type, (0, -1)) if logical is None else (0, -1)

    def checked(value: Any) -> Any:
        if type(value) not in kinds or (low < high and not low <= value <= high):
            raise _unfit(value, schema)
        return value if convert is None else convert(value)

    return checked


def _struct(schema: Schema, form: Form) -> Convert:
    parts: Final = [(one.name, to_plain(one.schema, form)) for one in schema.fields]

    fitting = schema

    def convert(value: Any) -> dict[str, Any]:
        nonlocal fitting
        if type(value) is not Struct:
            raise _unfit(value, schema)
        if value.schema is not fitting:
            # Whether null is allowed does not matter: this is no null.
            if value.schema.name != schema.name or value.schema.fields != schema.fields:
                raise _unfit(value, schema)
            fitting = value.schema
        name = ""
        try:
            made = {}
            for (name, convert_one), one in zip(parts, value.values, strict=True):
                made[name] = convert_one(one)
            return made
        except DataError as wrong:
            raise DataError(f"field {name}: {wrong}") from None

    return convert


def from_plain(schema: Schema, form: Form) -> Convert:
    """The way back. Null is null."""
    convert = _back(schema, form)
    if convert is None:
        return lambda value: value
    return lambda value: None if value is None else convert(value)


def _back(schema: Schema, form: Form) -> Convert | None:
    match schema.type:
        case SchemaType.STRUCT:
            parts = [(one.name, from_plain(one.schema, form)) for one in schema.fields]
            return lambda value: Struct(schema, [convert(value[name]) for name, convert in parts])
        case SchemaType.ARRAY if schema.value_schema is not None:
            inner = from_plain(schema.value_schema, form)
            return lambda value: [inner(one) for one in value]
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            key_of, inner = from_plain(schema.key_schema, form), from_plain(schema.value_schema, form)
            match form.map_form(schema):
                case MapForm.DICT:
                    return lambda value: {key_of(key): inner(one) for key, one in value.items()}
                case MapForm.PAIRS:
                    return lambda value: {key_of(key): inner(one) for key, one in value}
            return lambda value: {key_of(one[KEY]): inner(one[VALUE]) for one in value}
    return form.leaf(schema)


def _checked(value: Any, kinds: tuple[type, ...], schema: Schema) -> Any:
    if type(value) not in kinds:
        raise _unfit(value, schema)
    return value


def _unfit(value: Any, schema: Schema) -> DataError:
    return DataError(f"{shown(value)} does not fit its schema {schema}")
