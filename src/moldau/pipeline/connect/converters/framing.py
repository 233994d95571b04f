"""What bytes look like, for the message about a record in another format than the connector expects."""

import json
from typing import Final

MAGIC: Final = 0
PREFIX_SIZE: Final = 5
_SHOWN: Final = 60


def looks_like(data: bytes) -> str:
    if not data:
        return "an empty record"
    if len(data) >= PREFIX_SIZE and data[0] == MAGIC:
        schema_id = int.from_bytes(data[1:PREFIX_SIZE], "big")
        return f"a record with the schema id {schema_id} in front (Avro, JSON Schema or Protobuf)"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"binary data ({data[:20]!r})"
    return f"{_text_kind(text)} ({text[:_SHOWN]!r}{'...' if len(text) > _SHOWN else ''})"


def _text_kind(text: str) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        return "plain text"
    if isinstance(found, dict) and found.keys() == {"schema", "payload"}:
        return "JSON with its schema"
    return "plain JSON"


def wrong_format(data: bytes, expected: str, cure: str) -> str:
    """`cure` names the settings that change what is expected."""
    return f"the record looks like {looks_like(data)}; the connector expects {expected}: {cure}"
