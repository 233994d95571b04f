"""Values of Connect as fastavro writes them: structs as dicts, logical types as the plain value underneath. Pure."""

from dataclasses import replace
from typing import Any

from moldau.pipeline.connect.converters.registry.avro.avro_schemas import (
    UNION,
    AvroSchemas,
    entry_of,
    is_avro_map,
)
from moldau.pipeline.connect.converters.registry.leaf_values import (
    Convert,
    expected,
    leaf_writer,
    nullable,
    struct_values,
    within,
)
from moldau.pipeline.connect.converters.sum_types import set_field
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Schema, SchemaType


def writer(schema: Schema, names: AvroSchemas) -> Convert:
    """`names` makes the names of fields."""
    return nullable(schema, _of_value(schema, names))


def _of_value(schema: Schema, names: AvroSchemas) -> Convert:
    match schema.type:
        case SchemaType.STRUCT if schema.name == UNION:
            return _union_writer(schema, names)
        case SchemaType.STRUCT:
            return _struct_writer(schema, names)
        case SchemaType.ARRAY if schema.value_schema is not None:
            write = writer(schema.value_schema, names)
            return lambda value: [write(one) for one in expected(value, list | tuple, schema)]
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            return _map_writer(schema, schema.key_schema, schema.value_schema, names)
    return leaf_writer(schema)


def _struct_writer(schema: Schema, names: AvroSchemas) -> Convert:
    parts = [(names.field_name(one.name), writer(one.schema, names)) for one in schema.fields]

    def write(value: Any) -> dict[str, Any]:
        name = ""
        try:
            made = {}
            for (name, write_one), one in zip(parts, struct_values(value, schema), strict=True):
                made[name] = write_one(one)
            return made
        except (DataError, ValueError, TypeError, ArithmeticError) as wrong:
            raise within(name, wrong) from None

    return write


def _map_writer(schema: Schema, keys: Schema, values: Schema, names: AvroSchemas) -> Convert:
    write_key, write = writer(keys, names), writer(values, names)
    if is_avro_map(schema):
        return lambda value: {
            write_key(key): write(one) for key, one in expected(value, dict, schema).items()
        }
    key_name, value_name = (one.name for one in entry_of(schema).fields)
    return lambda value: [
        {key_name: write_key(key), value_name: write(one)}
        for key, one in expected(value, dict, schema).items()
    ]


def _union_writer(schema: Schema, names: AvroSchemas) -> Convert:
    """fastavro takes the name of the type with the value."""
    types = AvroSchemas(has_meta=True, is_enhanced=True, scrubs=True)
    labels = [_label(types.avro(_required(one.schema))) for one in schema.fields]
    writes = [_of_value(one.schema, names) for one in schema.fields]

    def write(value: Any) -> tuple[str, Any]:
        at, one = set_field(value, schema)
        return labels[at], writes[at](one)

    return write


def _label(avro: Any) -> str:
    if isinstance(avro, str):
        return avro
    if "name" in avro:
        return f"{avro['namespace']}.{avro['name']}" if "namespace" in avro else str(avro["name"])
    return str(avro["type"])


def _required(schema: Schema) -> Schema:
    return replace(schema, optional=False)
