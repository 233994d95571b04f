"""Records as clients receive them."""

from typing import Any

from confluent_kafka import Message

from moldau.proxies.rest.formats.plain import from_binary, from_json_bytes
from moldau.proxies.rest.formats.schemas import Schemas


def record_json(
    schemas: Schemas, name: str, message: Message, *, text_offsets: bool = False, extended: bool = False
) -> dict[str, Any]:
    """`name` is the format, `extended` adds what Confluent's proxy leaves out. Raises RestFailure 42203 if key or value
    are not of that format. Blocks when a schema is not known yet."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    record: dict[str, Any] = {
        "topic": topic,
        "key": _decoded(schemas, name, message.key(), f"the key of {topic}-{partition} offset {offset}"),
        "value": _decoded(
            schemas, name, message.value(), f"the value of {topic}-{partition} offset {offset}"
        ),
        "partition": partition,
        "offset": str(offset) if text_offsets else offset,
    }
    if extended:
        record["timestamp"] = message.timestamp()[1]
        headers: Any = message.headers() or ()
        record["headers"] = [
            {"name": header, "value": from_binary(_bytes(value))} for header, value in headers
        ]
    return record


def size_of(message: Message) -> int:
    return len(message.key() or b"") + len(message.value() or b"")


def _decoded(schemas: Schemas, name: str, data: Any, where: str) -> Any:
    if name == "json":
        return from_json_bytes(data, where)
    if name == "binary":
        return from_binary(data)
    return schemas.decode(name, data, where)


def _bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
