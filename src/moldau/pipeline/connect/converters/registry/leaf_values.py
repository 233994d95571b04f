"""Values of plain types, checked against their schema as they are written. For Avro and Protobuf."""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import to_plain
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES, TYPES, shown

Convert = Callable[[Any], Any]


def leaf_writer(schema: Schema) -> Convert:
    """Of a value that is not None and no collection. Logical types become the plain value underneath."""
    plain = to_plain(schema)
    if plain is not None:
        return plain
    if schema.type in RANGES:
        return _whole(schema)
    kinds = TYPES[schema.type]
    if schema.type is SchemaType.BYTES:
        return lambda value: bytes(expected(value, bytes | bytearray | memoryview, schema))

    def write(value: Any) -> Any:
        if type(value) in kinds:
            return value
        raise unfit(value, schema)

    return write


def _whole(schema: Schema) -> Convert:
    low, high = RANGES[schema.type]

    def write(value: Any) -> Any:
        if type(value) is int and low <= value <= high:
            return value
        raise unfit(value, schema)

    return write


def nullable(schema: Schema, write: Convert) -> Convert:
    """Null becomes the default, or stays null where the schema allows it."""
    written = None if schema.default is None else write(schema.default)
    if schema.optional or written is not None:
        return lambda value: written if value is None else write(value)

    def required(value: Any) -> Any:
        if value is None:
            raise DataError("it is null, and its schema is required and has no default")
        return write(value)

    return required


def struct_values(value: Any, schema: Schema) -> tuple[Any, ...]:
    if type(value) is not Struct:
        raise unfit(value, schema)
    if value.schema is not schema and value.schema != schema:
        raise DataError(f"it is a struct of another schema ({value.schema}) than declared ({schema})")
    return value.values


def expected(value: Any, kind: Any, schema: Schema) -> Any:
    if not isinstance(value, kind):
        raise unfit(value, schema)
    return value


def unfit(value: Any, schema: Schema) -> DataError:
    return DataError(f"{shown(value)} does not fit its schema {schema}")


def within(name: str, wrong: Exception) -> DataError:
    """The path of fields to what is wrong."""
    text = str(wrong)
    if text.startswith("field "):
        return DataError(f"field {name}.{text.removeprefix('field ')}")
    return DataError(f"field {name}: {text}")
