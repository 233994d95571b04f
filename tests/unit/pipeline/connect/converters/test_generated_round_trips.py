"""Generated schemas and values through the codecs of the registry converters: what is written is read again."""

from typing import Any

import pytest

from compat.connect.generated import Generated
from moldau.pipeline.connect.converters.catalog import converter_class
from moldau.pipeline.connect.converters.converter import VALUE, Setup
from moldau.pipeline.connect.converters.registry.registry_converter import RegistryConverter
from moldau.pipeline.connect.converters.registry.schema_store import StoredSchema
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

COUNT = 200
MESSAGES = 80


def made(name: str, **more: str) -> RegistryConverter:
    kind = converter_class(name, "value.converter")
    texts = {key.replace("_", "."): text for key, text in more.items()}
    converter = kind(Setup(VALUE, {"schema.registry.url": "http://127.0.0.1:1", **texts}))
    assert isinstance(converter, RegistryConverter)
    return converter


def has_only_plain_names(schema: Schema) -> bool:
    inner = [one.schema for one in schema.fields]
    inner += [one for one in (schema.key_schema, schema.value_schema) if one is not None]
    return not any("." in one.name for one in schema.fields) and all(map(has_only_plain_names, inner))


def with_defaults(schema: Schema, value: Any) -> Any:
    """Null is written as the default of its schema."""
    if value is None:
        return schema.default
    match schema.type:
        case SchemaType.STRUCT:
            pairs = zip(schema.fields, value.values, strict=True)
            return Struct(schema, [with_defaults(field.schema, one) for field, one in pairs])
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            return [with_defaults(schema.value_schema, one) for one in value]
        case SchemaType.MAP:
            assert schema.value_schema is not None
            assert schema.key_schema is not None
            return {
                with_defaults(schema.key_schema, key): with_defaults(schema.value_schema, one)
                for key, one in value.items()
            }
    return value


@pytest.mark.parametrize("name", ["AvroConverter", "JsonSchemaConverter"])
def test_what_is_written_is_read_again(name: str) -> None:
    converter = made(name)
    generated = Generated(name)
    seen = 0
    while seen < COUNT:
        schema = generated.schema(3)
        value = generated.value(schema)
        if value is None or not has_only_plain_names(schema):
            continue
        seen += 1
        stored = StoredSchema(converter.kind, converter.describe(schema).text, 1, {})
        found = converter.reader(stored)(converter.writer(schema, stored)(value))
        assert found.value == with_defaults(schema, value), stored.text
        assert found.schema == schema, stored.text


def plain(schema: Schema, value: Any) -> Any:
    """Without schemas. Protobuf does not tell a list or map that is null from an empty one."""
    if value is None:
        return {SchemaType.ARRAY: [], SchemaType.MAP: {}}.get(schema.type)
    match schema.type:
        case SchemaType.STRUCT:
            pairs = zip(schema.fields, value.values, strict=True)
            return {field.name: plain(field.schema, one) for field, one in pairs}
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            return [plain(schema.value_schema, one) for one in value]
        case SchemaType.MAP:
            assert schema.value_schema is not None
            return {key: plain(schema.value_schema, one) for key, one in value.items()}
    return value


def test_protobuf_messages_are_read_again() -> None:
    """Those that Protobuf has a message for: neither lists of lists, nor null in a list."""
    converter = made("ProtobufConverter", optional_for_nullables="true")
    generated = Generated("protobuf")
    seen = 0
    while seen < MESSAGES:
        schema = generated.struct_schema(2)
        if not has_only_plain_names(schema):
            continue
        value = generated.value(schema)
        try:
            stored = StoredSchema(converter.kind, converter.describe(schema).text, 1, {})
            data = converter.writer(schema, stored)(value)
        except DataError as refused:
            assert "Protobuf" in str(refused)
            continue
        seen += 1
        found = converter.reader(stored)(data)
        assert plain(schema, found.value) == plain(schema, with_defaults(schema, value)), stored.text
