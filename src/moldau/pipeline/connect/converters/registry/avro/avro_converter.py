"""Avro with a schema id in front, as Confluent's AvroConverter writes and reads it."""

import io
import json
from collections.abc import Callable
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer

from moldau.core.settings.key import Importance, boolean, integer
from moldau.pipeline.connect.converters.converter import Setup
from moldau.pipeline.connect.converters.registry.avro.avro_reading import AvroReading, reader_of
from moldau.pipeline.connect.converters.registry.avro.avro_schemas import AvroSchemas, without_logical_types
from moldau.pipeline.connect.converters.registry.avro.avro_writing import writer
from moldau.pipeline.connect.converters.registry.registry_converter import Described, RegistryConverter
from moldau.pipeline.connect.converters.registry.registry_settings import COMMON
from moldau.pipeline.connect.converters.registry.schema_store import StoredSchema
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import Declaration


class AvroConverter(RegistryConverter):
    java_name = "io.confluent.connect.avro.AvroConverter"
    doc = "Avro, with schemas in a schema registry."
    kind = "AVRO"
    title = "Avro"
    declarations = (
        *COMMON,
        Declaration(
            boolean(
                "connect.meta.data",
                True,
                "Whether schemas keep what only Connect has: int8, versions.",
            ),
            group="Avro",
        ),
        Declaration(
            boolean(
                "enhanced.avro.schema.support",
                False,
                "Whether texts that were read as enums are written as enums again.",
                importance=Importance.MEDIUM,
            ),
            group="Avro",
        ),
        Declaration(
            boolean("scrub.invalid.names", False, "Whether names that Avro does not allow are changed."),
            group="Avro",
        ),
        Declaration(
            integer("schemas.cache.config", 1_000, "Has no effect: schemas are kept.", at_least=1),
            group="Avro",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        said = self.settings
        self._options = {
            "has_meta": said["connect.meta.data"],
            "is_enhanced": said["enhanced.avro.schema.support"],
            "scrubs": said["scrub.invalid.names"],
        }

    def describe(self, schema: Schema) -> Described:
        made = AvroSchemas(**self._options).avro(schema)
        found = next((one for one in made if isinstance(one, dict)), {}) if isinstance(made, list) else made
        if not isinstance(found, dict) or "name" not in found:
            return Described(json.dumps(made), None)
        space = found.get("namespace")
        return Described(json.dumps(made), f"{space}.{found['name']}" if space else found["name"])

    def writer(self, schema: Schema, stored: StoredSchema) -> Callable[[Any], bytes]:
        _, plain, _ = _parsed(stored)
        convert = writer(schema, AvroSchemas(**self._options))

        def write(value: Any) -> bytes:
            out = io.BytesIO()
            schemaless_writer(out, plain, convert(value))
            return out.getvalue()

        return write

    def reader(self, stored: StoredSchema) -> Callable[[bytes], Typed]:
        avro, plain, named = _parsed(stored)
        mapped = AvroReading(named).mapped(avro)
        schema, convert = mapped.schema, reader_of(mapped)

        def read(data: bytes) -> Typed:
            value = schemaless_reader(io.BytesIO(data), plain, None, return_named_type=True)
            return Typed(schema, value if convert is None else convert(value))

        return read


def _parsed(stored: StoredSchema) -> tuple[Any, Any, dict[str, Any]]:
    """The schema with full names, the one that the codec works with, and the types that have names."""
    named: dict[str, Any] = {}
    plain_named: dict[str, Any] = {}
    for text in stored.references.values():
        one = json.loads(text)
        parse_schema(one, named_schemas=named)
        parse_schema(without_logical_types(one), named_schemas=plain_named)
    raw = json.loads(stored.text)
    avro = parse_schema(raw, named_schemas=named)
    return avro, parse_schema(without_logical_types(raw), named_schemas=plain_named), named
