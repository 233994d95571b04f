"""A schema from the registry, ready for fastavro, and as a tree without names to look up."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from moldau.pipeline.sql.formats.subject_schema import SubjectSchema

SCHEMAS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class ParsedAvro:
    codec: Any
    """What fastavro reads and writes with; without logical types, so that times are numbers and decimals bytes."""
    tree: Any
    """With every named type in its place, except where a type contains itself."""


@lru_cache(SCHEMAS_MAX)
def parsed(schema: SubjectSchema) -> ParsedAvro:
    """ValueError where the text is no Avro schema."""
    from fastavro import parse_schema
    from fastavro.schema import SchemaParseException, UnknownType

    plain: dict[str, Any] = {}
    full: dict[str, Any] = {}
    try:
        texts = [text for _, text in schema.references] + [schema.text]
        for text in texts:
            definition = _definition(text)
            codec = parse_schema(_without_logical_types(definition), plain)
            tree = parse_schema(definition, full, expand=True)
    except (SchemaParseException, UnknownType, KeyError, TypeError) as wrong:
        raise ValueError(f"the schema {schema.id or schema.subject} is no Avro schema: {wrong!r}") from None
    return ParsedAvro(codec, tree)


def _definition(text: str) -> Any:
    """A primitive type may stand without quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _without_logical_types(node: Any) -> Any:
    match node:
        case list():
            return [_without_logical_types(one) for one in node]
        case dict():
            return {
                name: value if name == "default" else _without_logical_types(value)
                for name, value in node.items()
                if name != "logicalType"
            }
    return node
