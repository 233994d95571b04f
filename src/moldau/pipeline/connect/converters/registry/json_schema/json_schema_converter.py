"""JSON with the id of a JSON Schema in front, as Confluent's JsonSchemaConverter writes and reads it."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson

from moldau.core.settings.checks import one_of
from moldau.core.settings.key import boolean, string
from moldau.pipeline.connect.converters.converter import Setup
from moldau.pipeline.connect.converters.json_values import Form, has_decimals, reader, writer
from moldau.pipeline.connect.converters.registry.json_schema.json_schema_reading import JsonSchemaReading
from moldau.pipeline.connect.converters.registry.json_schema.json_schema_schemas import ONE_OF, JsonSchemas
from moldau.pipeline.connect.converters.registry.registry_converter import Described, RegistryConverter
from moldau.pipeline.connect.converters.registry.registry_settings import COMMON
from moldau.pipeline.connect.converters.registry.schema_store import StoredSchema
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import Declaration


class JsonSchemaConverter(RegistryConverter):
    java_name = "io.confluent.connect.json.JsonSchemaConverter"
    doc = "JSON, with JSON Schemas in a schema registry."
    kind = "JSON"
    title = "JSON"
    declarations = (
        *COMMON,
        Declaration(
            string(
                "decimal.format",
                "BASE64",
                "How decimals are written: BASE64 as the bytes of the unscaled number, NUMERIC as a number.",
                check=one_of("BASE64", "NUMERIC", ignore_case=True),
            ),
            group="JSON Schema",
        ),
        Declaration(
            boolean(
                "object.additional.properties",
                True,
                "Whether schemas allow fields that they do not name.",
            ),
            group="JSON Schema",
        ),
        Declaration(
            boolean(
                "use.optional.for.nonrequired",
                False,
                "Whether fields that a schema does not require may be null.",
            ),
            group="JSON Schema",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        said = self.settings
        self._form = Form(
            said["decimal.format"].upper() == "NUMERIC",
            replace_null=True,
            are_entries_objects=True,
            union=ONE_OF,
        )
        self._schemas = JsonSchemas(self._form, allows_more=said["object.additional.properties"])

    def describe(self, schema: Schema) -> Described:
        return Described(json.dumps(self._schemas.json_schema(schema)), schema.name)

    def writer(self, schema: Schema, stored: StoredSchema) -> Callable[[Any], bytes]:
        write = writer(schema, self._form)
        return lambda value: orjson.dumps(write(value))

    def reader(self, stored: StoredSchema) -> Callable[[bytes], Typed]:
        optional = self.settings["use.optional.for.nonrequired"]
        reading = JsonSchemaReading(
            stored.text, stored.references, self._form, optional_unless_required=optional
        )
        schema = reading.schema()
        read = reader(schema, self._form)
        if has_decimals(schema):
            return lambda data: Typed(schema, read(json.loads(data, parse_float=Decimal)))
        return lambda data: Typed(schema, read(orjson.loads(data)))
