"""Protobuf messages of a schema given as text: message lookup, generated classes, and the indexes in the frame."""

from collections.abc import Sequence
from typing import Any

from google.protobuf import message_factory
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from google.protobuf.message import DecodeError

from moldau.registry.schemas.protobuf.schema import OWN_PATH, ProtobufSchema


class Messages:
    """The messages of one schema."""

    def __init__(self, schema: ProtobufSchema) -> None:
        self._pool = schema.pool()
        self._top = list(self._pool.FindFileByName(OWN_PATH).message_types_by_name.values())

    def names(self) -> list[str]:
        return [descriptor.full_name for descriptor in self._top]

    def indexes(self, name: str | None) -> list[int]:
        """The path of a message in the file: its index at top level, then within each enclosing message."""
        if name is None:
            if not self._top:
                raise ValueError("the schema has no message")
            return [0]
        try:
            descriptor = self._pool.FindMessageTypeByName(name)
        except KeyError:
            raise ValueError(f"the schema has no message {name}; it has {', '.join(self.names())}") from None
        found: list[int] = []
        while descriptor is not None:
            parent = descriptor.containing_type
            siblings = parent.nested_types if parent else self._top
            found.insert(0, [each.full_name for each in siblings].index(descriptor.full_name))
            descriptor = parent
        return found

    def at(self, indexes: Sequence[int]) -> Any:
        """The class of the message at this path."""
        here: Sequence[Any] = self._top
        descriptor = None
        for index in indexes:
            if not 0 <= index < len(here):
                raise ValueError(f"its frame names message {list(indexes)}, which the schema does not have")
            descriptor = here[index]
            here = descriptor.nested_types
        return message_factory.GetMessageClass(descriptor)

    def encode(self, text: str, indexes: Sequence[int]) -> bytes:
        message = self.at(indexes)()
        try:
            Parse(text, message, descriptor_pool=self._pool)
        except ParseError as error:
            raise ValueError(f"it does not match message {message.DESCRIPTOR.full_name}: {error}") from None
        return bytes(message.SerializeToString())

    def decode(self, data: bytes, indexes: Sequence[int]) -> str:
        message = self.at(indexes)()
        try:
            message.ParseFromString(data)
        except DecodeError as error:
            raise ValueError(f"it is not a message {message.DESCRIPTOR.full_name}: {error}") from None
        return str(MessageToJson(message, indent=None, descriptor_pool=self._pool))


def write_indexes(indexes: Sequence[int]) -> bytes:
    """The count and the indexes as zigzag varints. The most common value, [0], is a single zero byte."""
    if list(indexes) == [0]:
        return b"\x00"
    return b"".join(_zigzag(number) for number in (len(indexes), *indexes))


def read_indexes(data: bytes) -> tuple[list[int], bytes]:
    count, at = _unzigzag(data, 0)
    if count == 0:
        return [0], data[at:]
    if not 0 < count <= 64:
        raise ValueError(f"its frame names a message {count} levels deep")
    found = []
    for _ in range(count):
        number, at = _unzigzag(data, at)
        found.append(number)
    return found, data[at:]


def _zigzag(number: int) -> bytes:
    value, out = number << 1, bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _unzigzag(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise ValueError("its frame ends before the message does")
