"""What a record means to Redis: keys, values and commands. Pure."""

import base64
import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, NamedTuple

import orjson

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.redis.settings import Kind, RedisSettings
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.struct import Struct

Command = tuple[bytes | str | int | float, ...]

TYPE_NAMES: Final = {
    Kind.HASH: "hash",
    Kind.JSON: "ReJSON-RL",
    Kind.STREAM: "stream",
    Kind.SET: "set",
    Kind.ZSET: "zset",
}
"""What TYPE says of the keys. A string replaces what was there."""


class Write(NamedTuple):
    record: SinkRecord
    key: bytes
    commands: list[Command]


def write_of(record: SinkRecord, settings: RedisSettings) -> Write:
    """Raises ConnectError for a record that does not fit the type."""
    keyspace = settings.keyspace.replace("${topic}", record.topic).encode()
    match settings.kind:
        case Kind.STREAM:
            return Write(record, keyspace, _stream(keyspace, record))
        case Kind.SET | Kind.ZSET:
            return Write(record, keyspace, _member(keyspace, record, settings.kind))
    separator = settings.separator.encode() if keyspace else b""
    key = keyspace + separator + key_of(record)
    if record.value is None:
        return Write(record, key, [("DEL", key)])
    match settings.kind:
        case Kind.HASH:
            commands = _hash(key, record.value)
        case Kind.JSON:
            commands = [("JSON.SET", key, "$", json_of(record.value))]
        case _:
            commands = [("SET", key, text_of(record.value))]
    if settings.ttl_s > 0:
        commands.append(("EXPIRE", key, settings.ttl_s))
    return Write(record, key, commands)


def key_of(record: SinkRecord) -> bytes:
    if record.key is None:
        raise ConnectError(
            "the record has no key, and its key is part of the key in Redis: the transformation ValueToKey makes one"
        )
    if isinstance(record.key, Struct | Mapping | list):
        raise ConnectError(
            "the record's key is not a single value: the transformation ExtractField$Key takes a field of it"
        )
    return text_of(record.key)


def _hash(key: bytes, value: Any) -> list[Command]:
    """Fields that are null are removed."""
    fields = fields_of(value)
    if fields is None:
        raise ConnectError(
            f"the value is a {type(value).__name__}, and a hash needs fields: set redis.type=STRING, or a "
            "value.converter that makes structs or maps"
        )
    given = [part for name, one in fields.items() if one is not None for part in (name, text_of(one))]
    removed = [name for name, one in fields.items() if one is None]
    commands: list[Command] = []
    if given:
        commands.append(("HSET", key, *given))
    if removed:
        commands.append(("HDEL", key, *removed))
    return commands


def _stream(key: bytes, record: SinkRecord) -> list[Command]:
    """Nothing can be deleted by a record without a value."""
    if record.value is None:
        return []
    fields = fields_of(record.value)
    if fields is None:
        fields = {"value": record.value}
    given = [part for name, one in fields.items() if one is not None for part in (name, text_of(one))]
    if not given:
        raise ConnectError("the value has no fields, and an entry of a stream needs one")
    return [("XADD", key, "*", *given)]


def _member(key: bytes, record: SinkRecord, kind: Kind) -> list[Command]:
    member, value = key_of(record), record.value
    if value is None:
        return [("SREM" if kind is Kind.SET else "ZREM", key, member)]
    if kind is Kind.SET:
        return [("SADD", key, member)]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or math.isnan(value):
        raise ConnectError(
            f"the value is {str(value)[:100]!r}, and the score of a member is a number: the transformations "
            "ExtractField and Cast make one"
        )
    return [("ZADD", key, float(value), member)]


def fields_of(value: Any) -> dict[str | bytes, Any] | None:
    """None if it has none."""
    if isinstance(value, Struct):
        return {one.name: given for one, given in zip(value.schema.fields, value.values, strict=True)}
    if isinstance(value, Mapping):
        return {text_of(name): given for name, given in value.items()}
    return None


def text_of(value: Any) -> bytes:
    """A single value as text; everything else as JSON."""
    match value:
        case str():
            return value.encode(errors="replace")
        case bytes() | bytearray() | memoryview():
            return bytes(value)
        case bool():
            return b"true" if value else b"false"
        case int() | float() | Decimal():
            return str(value).encode()
        case date() | time():  # A datetime is a date.
            return value.isoformat().encode()
    return json_of(value)


def json_of(value: Any) -> bytes:
    """A text is taken for JSON."""
    if isinstance(value, str | bytes):
        return text_of(value)
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except TypeError as wrong:
        raise ConnectError(f"the value cannot be written as JSON: {wrong}") from None


def _plain(value: Any) -> Any:
    match value:
        case Struct():
            return value.as_dict()
        case Decimal():
            return orjson.Fragment(str(value)) if value.is_finite() else None
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} is not a value of Connect")
