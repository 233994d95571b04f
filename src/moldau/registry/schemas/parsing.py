"""From the text a client sent to a schema, whatever its type."""

from collections.abc import Callable, Mapping

from moldau.registry.schemas.model import InvalidSchema, ParsedSchema

SCHEMA_TYPES = ("AVRO", "JSON", "PROTOBUF")
TEXT_CHARS_MAX = 2 * 1024 * 1024
"""Above what a broker takes in one record by default (message.max.bytes); past it nothing is parsed at all."""


def parse(
    schema_type: str, text: str, references: Mapping[str, ParsedSchema] | None = None, *, strict: bool = True
) -> ParsedSchema:
    """The schema of `text`. `references` are its references by name, those of references not among them.

    `strict` is for what comes in; off, it takes what a registry once stored though it would be refused today.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise InvalidSchema(
            f"The {schema_type} schema has {len(text):,} characters; at most {TEXT_CHARS_MAX:,} are taken. "
            "Split it and refer to the parts."
        )
    try:
        return _constructor(schema_type)(text, references or {}, strict)
    except RecursionError:
        raise InvalidSchema(f"The {schema_type} schema is nested too deeply: flatten it.") from None


def _constructor(schema_type: str) -> Callable[[str, Mapping[str, ParsedSchema], bool], ParsedSchema]:
    """Imported when first used: a registry of Avro schemas never loads the other two formats."""
    if schema_type == "AVRO":
        from moldau.registry.schemas.avro.schema import AvroSchema

        return lambda text, references, strict: AvroSchema(text, references, strict=strict)
    if schema_type == "JSON":
        from moldau.registry.schemas.json_schema.schema import JsonSchema

        return lambda text, references, strict: JsonSchema(text, references, strict=strict)
    if schema_type == "PROTOBUF":
        from moldau.registry.schemas.protobuf.schema import ProtobufSchema

        return lambda text, references, strict: ProtobufSchema(text, references, strict=strict)
    raise InvalidSchema(f"There is no schema type {schema_type!r}; the types are {', '.join(SCHEMA_TYPES)}.")
