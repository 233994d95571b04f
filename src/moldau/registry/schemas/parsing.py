"""Turns the text a client sent into a schema, whatever its type."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from moldau.registry.schemas.model import InvalidSchema, ParsedSchema

SCHEMA_TYPES = ("AVRO", "JSON", "PROTOBUF")
TEXT_CHARS_MAX = 2 * 1024 * 1024
"""More than a broker accepts in one record by default (message.max.bytes). A longer text is not parsed at all."""


def read(
    schema_type: str, text: str, references: Mapping[str, ParsedSchema] | None = None, *, strict: bool = False
) -> ParsedSchema:
    """Parses `text`. `references` are its direct references by name.

    `strict` is for new schemas: Avro's names, namespaces and defaults are checked. Without it, stored schemas are
    accepted that would be rejected today.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise InvalidSchema(
            f"The {schema_type} schema has {len(text):,} characters; at most {TEXT_CHARS_MAX:,} are accepted. "
            "Split it into several schemas with references."
        )
    with _depth_told(schema_type):
        if schema_type == "AVRO":
            # Imported on first use: a registry of Avro schemas never loads the other two formats.
            from moldau.registry.schemas.avro.schema import AvroSchema

            return AvroSchema(text, references or {}, strict=strict)
        if schema_type == "JSON":
            from moldau.registry.schemas.json_schema.schema import JsonSchema

            return JsonSchema(text, references or {})
        if schema_type == "PROTOBUF":
            from moldau.registry.schemas.protobuf.schema import ProtobufSchema

            return ProtobufSchema(text, references or {})
    raise InvalidSchema(f"There is no schema type {schema_type!r}; the types are {', '.join(SCHEMA_TYPES)}.")


def verify(schema: ParsedSchema, *, fields: bool) -> None:
    """Raises InvalidSchema unless everything the schema names exists. `fields` adds the checks of `validateFields`."""
    with _depth_told(schema.schema_type):
        schema.check(fields=fields)


def parse(
    schema_type: str, text: str, references: Mapping[str, ParsedSchema] | None = None, *, strict: bool = True
) -> ParsedSchema:
    """Reads a schema; when `strict`, also makes every check."""
    found = read(schema_type, text, references, strict=strict)
    if strict:
        verify(found, fields=True)
    return found


@contextmanager
def _depth_told(schema_type: str) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise InvalidSchema(f"The {schema_type} schema is nested too deeply: flatten it.") from None
