"""Whether a value fits its schema."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import python_type
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

RANGES: Final[Mapping[SchemaType, tuple[int, int]]] = {
    kind: (-(1 << bits - 1), (1 << bits - 1) - 1)
    for kind, bits in (
        (SchemaType.INT8, 8),
        (SchemaType.INT16, 16),
        (SchemaType.INT32, 32),
        (SchemaType.INT64, 64),
    )
}
TYPES: Final[Mapping[SchemaType, tuple[type, ...]]] = {
    **dict.fromkeys(RANGES, (int,)),
    SchemaType.FLOAT32: (float, int),
    SchemaType.FLOAT64: (float, int),
    SchemaType.BOOLEAN: (bool,),
    SchemaType.STRING: (str,),
    SchemaType.BYTES: (bytes, bytearray, memoryview),
    SchemaType.ARRAY: (list, tuple),
    SchemaType.MAP: (dict,),
    SchemaType.STRUCT: (Struct,),
}
"""What a value of each type may be in Python. A bool is no number."""


def check(schema: Schema, value: Any, where: str = "the value") -> None:
    """Raises DataError, which says where in the value it is wrong."""
    if value is None:
        if schema.optional or schema.default is not None:
            return
        raise DataError(
            f"{where} is null, and its schema ({schema}) neither allows null nor has a default: "
            "give it a value, or make the schema optional"
        )
    logical = python_type(schema)
    if logical is not None:
        if type(value) is not logical:
            raise _unfit(where, value, schema, logical.__name__)
        return
    wanted = TYPES[schema.type]
    if not isinstance(value, wanted) or (type(value) is bool and schema.type is not SchemaType.BOOLEAN):
        raise _unfit(where, value, schema, " or ".join(one.__name__ for one in wanted))
    _check_inside(schema, value, where)


def _check_inside(schema: Schema, value: Any, where: str) -> None:
    match schema.type:
        case SchemaType.ARRAY if schema.value_schema is not None:
            for place, one in enumerate(value):
                check(schema.value_schema, one, f"{where}[{place}]")
        case SchemaType.MAP if schema.value_schema is not None and schema.key_schema is not None:
            for key, one in value.items():
                check(schema.key_schema, key, f"the key {key!r} of {where}")
                check(schema.value_schema, one, f"{where}[{key!r}]")
        case SchemaType.STRUCT:
            _check_struct(schema, value, where)
        case kind if kind in RANGES:
            low, high = RANGES[kind]
            if not low <= value <= high:
                raise DataError(f"{where} is {value}, and an {kind} lies between {low} and {high}")


def _check_struct(schema: Schema, value: Struct, where: str) -> None:
    if value.schema is not schema and value.schema != schema:
        raise DataError(
            f"{where} is a struct with another schema ({value.schema}) than the one it is declared with ({schema})"
        )
    if len(value.values) != len(schema.fields):
        raise DataError(
            f"{where} has {len(value.values)} values for the {len(schema.fields)} fields of {schema}"
        )
    for field, one in zip(schema.fields, value.values, strict=True):
        check(field.schema, one, f"field {field.name}" if where == "the value" else f"{where}.{field.name}")


def _unfit(where: str, value: Any, schema: Schema, wanted: str) -> DataError:
    return DataError(
        f"{where} is {shown(value)} ({type(value).__name__}), and its schema is {schema}: it takes {wanted}"
    )


def shown(value: Any) -> str:
    """A value in a message: not longer than a line."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
