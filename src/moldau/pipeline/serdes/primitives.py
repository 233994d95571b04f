"""Serdes of plain values, byte for byte Kafka's: string, long, int, short, double, float, bytes, boolean. And JSON."""

import struct
from collections.abc import Callable
from typing import Any, Final

import orjson

from moldau.pipeline.serdes.kinds import V
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde


class _Plain(Serde[V]):
    """A codec that is the same for every topic. Its functions handle None themselves, because they run for every
    record. Unpickled by name."""

    def __init__(self, name: str, encode: Encoder, decode: Decoder, *types: type) -> None:
        """`types`: first the type that it decodes to, then other types that it can encode."""
        self._name = name
        self._types = types
        self._encode = encode
        self._decode = decode

    @property
    def name(self) -> str:
        return self._name

    @property
    def gives(self) -> frozenset[type]:
        return frozenset(self._types[:1])

    @property
    def takes(self) -> frozenset[type]:
        return frozenset(self._types)

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        return self._encode

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        return self._decode

    def __reduce__(self) -> tuple[Callable[[str], Serde], tuple[str]]:
        return serde_named, (self._name,)


def _fixed(name: str, layout: str, gives: type[V], *takes: type) -> Serde[V]:
    packer = struct.Struct(layout)
    pack, unpack, size = packer.pack, packer.unpack, packer.size

    def encode(value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return pack(value)
        except struct.error as failure:
            raise TypeError(f"{value!r} cannot be written as {name}: {failure}") from None

    def decode(data: bytes | None) -> Any:
        if data is None:
            return None
        if len(data) != size:
            raise ValueError(f"{name} needs {size} bytes, the record has {len(data)}")
        return unpack(data)[0]

    return _Plain(name, encode, decode, gives, *takes)


def _encode_string(value: Any) -> bytes | None:
    if type(value) is str:
        return value.encode()
    if value is None:
        return None
    raise TypeError(f"{value!r} is no string; give the operator the serde of the values there")


def _decode_string(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _encode_bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"{value!r} is not bytes; give the operator the serde of the values there")


def _decode_bytes(data: bytes | None) -> bytes | None:
    return data


def _encode_boolean(value: Any) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is no boolean")
    return b"\x01" if value else b"\x00"


def _decode_boolean(data: bytes | None) -> bool | None:
    if data is None:
        return None
    if data not in (b"\x00", b"\x01"):
        raise ValueError("a boolean is one byte, 0 or 1")
    return data == b"\x01"


_JSON_LINE: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE


def _encode_json(value: Any) -> bytes | None:
    """Cutting the newline off makes a copy: with each result that is kept, orjson leaves the 4 kB of its buffer, and
    state stores keep many."""
    return None if value is None else orjson.dumps(value, option=_JSON_LINE)[:-1]


def _decode_json(data: bytes | None) -> Any:
    return None if data is None else orjson.loads(data)


STRING: Serde[str] = _Plain("string", _encode_string, _decode_string, str)
BYTES: Serde[bytes] = _Plain("bytes", _encode_bytes, _decode_bytes, bytes, bytearray, memoryview)
BOOLEAN: Serde[bool] = _Plain("boolean", _encode_boolean, _decode_boolean, bool)
LONG: Serde[int] = _fixed("long", ">q", int, bool)
INT: Serde[int] = _fixed("int", ">i", int, bool)
SHORT: Serde[int] = _fixed("short", ">h", int, bool)
DOUBLE: Serde[float] = _fixed("double", ">d", float, int, bool)
FLOAT: Serde[float] = _fixed("float", ">f", float, int, bool)
JSON: Serde[Any] = _Plain("json", _encode_json, _decode_json)

_BY_NAME = {serde.name: serde for serde in (STRING, BYTES, BOOLEAN, LONG, INT, SHORT, DOUBLE, FLOAT, JSON)}


def serde_named(name: str) -> Serde:
    return _BY_NAME[name]
