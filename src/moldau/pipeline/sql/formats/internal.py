"""Rows and states between the steps of a query: JSON lists, with marks for what JSON does not know."""

import base64
import math
from decimal import Decimal
from typing import Any, Final

import orjson

from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde

_DECIMAL: Final = "\0d"
_BYTES: Final = "\0b"
_DOUBLE: Final = "\0f"
_MARK: Final = b'{"\\u0000'
"""How a mark looks in the bytes; no other text has it, since quotes inside text are escaped."""


def _marked(value: Any) -> Any:
    match value:
        case Decimal():
            return {_DECIMAL: str(value)}
        case bytes():
            return {_BYTES: base64.b64encode(value).decode()}
    raise TypeError(f"{value!r} is no value of SQL")


def _encode(value: Any) -> bytes | None:
    if value is None:
        return None
    data = orjson.dumps(value, default=_marked)
    if b"null" in data:
        kept = _with_marked_doubles(value)
        if kept is not value:
            data = orjson.dumps(kept, default=_marked)
    # A copy: orjson leaves the 4 kB of its buffer with each result, and these are kept in state stores.
    return bytes(memoryview(data))


def _with_marked_doubles(value: Any) -> Any:
    """NaN and the infinities would be written as null."""
    match value:
        case float() if not math.isfinite(value):
            return {_DOUBLE: str(value)}
        case list() | tuple():
            made = [_with_marked_doubles(one) for one in value]
            return value if all(new is old for new, old in zip(made, value, strict=True)) else made
        case dict():
            fields = {name: _with_marked_doubles(one) for name, one in value.items()}
            return value if all(fields[name] is value[name] for name in value) else fields
    return value


def _decode(data: bytes | None) -> Any:
    if data is None:
        return None
    found = orjson.loads(data)
    if _MARK in data:
        found = _unmarked(found)
    return tuple(found) if type(found) is list else found


def _unmarked(value: Any) -> Any:
    match value:
        case list():
            return [_unmarked(one) for one in value]
        case {"\0d": text}:
            return Decimal(text)
        case {"\0b": text}:
            return base64.b64decode(text)
        case {"\0f": text}:
            return float(text)
        case dict():
            return {name: _unmarked(one) for name, one in value.items()}
    return value


class _InternalSerde(Serde):
    @property
    def name(self) -> str:
        return "sql-internal"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        return _encode

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        return _decode


_INTERNAL: Final = _InternalSerde()


def internal_serde() -> Serde:
    return _INTERNAL
