"""Schemas and values of Connect as those of Arrow, and back. Shared by Parquet and Iceberg."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from moldau.pipeline.connect.connectors.files.formats.plain_values import Convert, Form, MapForm
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import scale_of
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Schema, SchemaType

DECIMAL_DIGITS: Final = 38
NAME: Final = b"connect.name"
VERSION: Final = b"connect.version"
_PLAIN: Final[Mapping[SchemaType, pa.DataType]] = {
    SchemaType.INT8: pa.int8(),
    SchemaType.INT16: pa.int16(),
    SchemaType.INT32: pa.int32(),
    SchemaType.INT64: pa.int64(),
    SchemaType.FLOAT32: pa.float32(),
    SchemaType.FLOAT64: pa.float64(),
    SchemaType.BOOLEAN: pa.bool_(),
    SchemaType.STRING: pa.string(),
    SchemaType.BYTES: pa.binary(),
}
_LOGICAL: Final[Mapping[str, pa.DataType]] = {
    DATE: pa.date32(),
    TIME: pa.time32("ms"),
    TIMESTAMP: pa.timestamp("ms", "UTC"),
}


def arrow_type(schema: Schema) -> pa.DataType:
    if schema.name == DECIMAL:
        return pa.decimal128(DECIMAL_DIGITS, scale_of(schema))
    if schema.name is not None and schema.name in _LOGICAL:
        return _LOGICAL[schema.name]
    match schema.type:
        case SchemaType.STRUCT:
            if not schema.fields:
                raise DataError(f"{schema} has no fields, and columns consist of at least one")
            return pa.struct([arrow_field(one) for one in schema.fields])
        case SchemaType.ARRAY if schema.value_schema is not None:
            inner = schema.value_schema
            return pa.list_(pa.field("element", arrow_type(inner), inner.optional, _metadata(inner)))
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            inner = schema.value_schema
            return pa.map_(
                pa.field("key", arrow_type(schema.key_schema), nullable=False),
                pa.field("value", arrow_type(inner), inner.optional, _metadata(inner)),
            )
    return _PLAIN[schema.type]


def arrow_field(field: Field) -> pa.Field:
    return pa.field(field.name, arrow_type(field.schema), field.schema.optional, _metadata(field.schema))


def arrow_schema(schema: Schema) -> pa.Schema:
    """Of a struct. Field names occur once, also if case does not count: Parquet's readers ask for that."""
    arrow_type(schema)
    return pa.schema([arrow_field(one) for one in schema.fields], _metadata(schema))


def _metadata(schema: Schema) -> dict[bytes, bytes] | None:
    if schema.name is None or schema.name in _LOGICAL or schema.name == DECIMAL:
        return None
    version = {} if schema.version is None else {VERSION: str(schema.version).encode()}
    return {NAME: schema.name.encode(), **version}


def _leaf(schema: Schema) -> Convert | None:
    if schema.name == DECIMAL:
        scale = scale_of(schema)
        return lambda value: _fitting(value, scale)
    if schema.name == TIMESTAMP:
        return lambda value: value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return {SchemaType.BYTES: bytes, SchemaType.FLOAT32: float, SchemaType.FLOAT64: float}.get(
        schema.type if schema.name not in _LOGICAL else SchemaType.INT32
    )


def _fitting(value: Decimal, scale: int) -> Decimal:
    _, digits, exponent = value.as_tuple()
    if type(exponent) is not int or -exponent > scale or len(digits) + exponent > DECIMAL_DIGITS - scale:
        raise DataError(
            f"the decimal {value} does not fit: columns have {DECIMAL_DIGITS} digits, {scale} of them after the point "
            "by its schema"
        )
    return value


ARROW: Final = Form(_leaf, lambda schema: MapForm.PAIRS)
"""To Arrow's Python values and back."""


def schema_of_fields(fields: pa.Schema | pa.StructType, metadata: Mapping[bytes, bytes] | None) -> Schema:
    """A struct."""
    name, version = _name_of(metadata)
    made = tuple(Field(one.name, schema_of_field(one)) for one in fields)
    return Schema(SchemaType.STRUCT, name=name, version=version, fields=made)


def schema_of_field(field: pa.Field) -> Schema:
    made = _schema_of_type(field.type, field.metadata, field.name)
    name, version = _name_of(field.metadata)
    if name is not None and made.name is None:
        made = replace(made, name=name, version=version)
    return replace(made, optional=field.nullable)


def _name_of(metadata: Mapping[bytes, bytes] | None) -> tuple[str | None, int | None]:
    if not metadata or NAME not in metadata:
        return None, None
    return metadata[NAME].decode(), int(metadata[VERSION]) if VERSION in metadata else None


def _schema_of_type(kind: pa.DataType, metadata: Mapping[bytes, bytes] | None, name: str) -> Schema:
    types = pa.types
    if types.is_struct(kind):
        return schema_of_fields([kind.field(place) for place in range(kind.num_fields)], metadata)
    if types.is_map(kind):
        return schemas.mapping(
            replace(schema_of_field(kind.key_field), optional=False), schema_of_field(kind.item_field)
        )
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return schemas.array(schema_of_field(kind.value_field))
    if types.is_decimal(kind):
        return schemas.decimal(kind.scale)
    for matches, schema in _READ:
        if matches(kind):
            return schema
    raise DataError(
        f"column {name} has the type {kind}, which has no schema in Connect: leave it out, or cast it"
    )


def read_value(value: Any) -> Any:
    """What Arrow gives for a moment without a zone, or with another one."""
    if type(value) is datetime and value.tzinfo is not UTC:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


_READ: Final = (
    (pa.types.is_boolean, schemas.BOOLEAN),
    (pa.types.is_int8, schemas.INT8),
    (lambda kind: pa.types.is_int16(kind) or pa.types.is_uint8(kind), schemas.INT16),
    (lambda kind: pa.types.is_int32(kind) or pa.types.is_uint16(kind), schemas.INT32),
    (pa.types.is_integer, schemas.INT64),
    (lambda kind: pa.types.is_float32(kind) or pa.types.is_float16(kind), schemas.FLOAT32),
    (pa.types.is_float64, schemas.FLOAT64),
    (lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind), schemas.STRING),
    (
        lambda kind: (
            pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
        ),
        schemas.BYTES,
    ),
    (pa.types.is_date, schemas.date()),
    (pa.types.is_time, schemas.time()),
    (pa.types.is_timestamp, schemas.timestamp()),
)
