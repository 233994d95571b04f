"""Encodes and decodes `confluent.Meta`, the metadata that Confluent's clients read from options.

Implemented here because Google's library knows the extension only where Confluent's own module is loaded.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from moldau.registry.schemas.protobuf.syntax import Aggregate, Quoted, Several, Value

NUMBER = 1088
"""The extension's field number in every kind of options."""
_LENGTH_DELIMITED = 2


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    inner: "dict[int, _Member] | None" = None
    is_repeated: bool = False


_ENTRY = {1: _Member("key"), 2: _Member("value")}
_RULE = {1: _Member("name"), 2: _Member("doc"), 3: _Member("expr"), 4: _Member("sql")}
_META = {
    1: _Member("doc"),
    2: _Member("params", _ENTRY, True),
    3: _Member("tags", None, True),
    4: _Member("rules", _RULE, True),
}


def encode(value: Aggregate) -> bytes:
    """The extension field, including tag and length."""
    return _prefixed(NUMBER, _encoded(value, _META))


def _encoded(value: Aggregate, shape: dict[int, _Member]) -> bytes:
    payload = b""
    for number, member in shape.items():
        for content in (content for name, content in value.members if name == member.name):
            for one in _each(content):
                if member.inner is not None and isinstance(one, Aggregate):
                    payload += _prefixed(number, _encoded(one, member.inner))
                elif member.inner is None and isinstance(one, Quoted):
                    payload += _prefixed(number, one.text.encode())
    return payload


def decode(payload: bytes) -> Aggregate:
    """Decodes the extension's content. Ignores what it does not know."""
    return _decoded(payload, _META)


def _decoded(payload: bytes, shape: dict[int, _Member]) -> Aggregate:
    found: dict[str, list[Value]] = {}
    for number, content in _fields(payload):
        member = shape.get(number)
        if member is not None:
            value = (
                _decoded(content, member.inner) if member.inner else Quoted(content.decode(errors="replace"))
            )
            found.setdefault(member.name, []).append(value)
    repeated = {member.name for member in shape.values() if member.is_repeated}
    return Aggregate(
        tuple(
            (name, Several(tuple(values)) if name in repeated else values[-1])
            for name, values in found.items()
        )
    )


def _fields(payload: bytes) -> Iterator[tuple[int, bytes]]:
    """Every member is a string or a message: any other wire type ends the decoding."""
    at = 0
    while at < len(payload):
        tag, at = _read_varint(payload, at)
        length, at = _read_varint(payload, at)
        if tag & 7 != _LENGTH_DELIMITED or at + length > len(payload):
            return
        yield tag >> 3, payload[at : at + length]
        at += length


def _each(value: Value) -> Iterable[Value]:
    return value.values if isinstance(value, Several) else (value,)


def _prefixed(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return value, at
