"""The name of what a schema describes: strategies other than TOPIC_NAME make the subject of it. Pure."""

import re
from typing import Final

import orjson

from moldau.proxies.rest.failures import invalid_schema

COMMENT: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+")|//[^\n]*|/\*.*?\*/', re.DOTALL)
PACKAGE: Final = re.compile(r"(?:^|[;}])\s*package\s+([\w.]+)\s*;")
MESSAGE: Final = re.compile(r"(?:^|[;}])\s*message\s+(\w+)\s*\{")


def record_name(kind: str, text: str) -> str:
    """`kind` is avro, jsonschema or protobuf. Raises RestFailure 42205 for a schema without a name."""
    found = _of_protobuf(text) if kind == "protobuf" else _of_json(kind, text)
    if not found:
        wanted = {"avro": "a record, an enum or a fixed", "jsonschema": "a schema with a title"}
        raise invalid_schema(
            f"it has no name to make the subject of: it is not {wanted.get(kind, 'a file with a message')}."
        )
    return found


def _of_json(kind: str, text: str) -> str | None:
    try:
        schema = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(schema, dict):
        return None
    name = schema.get("title" if kind == "jsonschema" else "name")
    if not isinstance(name, str):
        return None
    space = schema.get("namespace")
    return (
        f"{space}.{name}" if kind == "avro" and isinstance(space, str) and space and "." not in name else name
    )


def _of_protobuf(text: str) -> str | None:
    """Of the first message."""
    bare = COMMENT.sub(lambda match: match[1] or " ", text)
    message = MESSAGE.search(bare)
    package = PACKAGE.search(bare)
    if message is None:
        return None
    return f"{package[1]}.{message[1]}" if package else message[1]
