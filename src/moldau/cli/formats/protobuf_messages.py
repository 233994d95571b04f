"""Protobuf messages of a schema given as text: message lookup and generated classes."""

from collections.abc import Sequence
from typing import Any

from google.protobuf import message_factory
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from google.protobuf.message import DecodeError

from moldau.core.protobuf_paths import message_at, path_of
from moldau.registry.schemas.protobuf.schema import OWN_PATH, ProtobufSchema


class Messages:
    """The messages of one schema."""

    def __init__(self, schema: ProtobufSchema) -> None:
        self._pool = schema.pool()
        self._top = list(self._pool.FindFileByName(OWN_PATH).message_types_by_name.values())

    def names(self) -> list[str]:
        return [descriptor.full_name for descriptor in self._top]

    def indexes(self, name: str | None) -> list[int]:
        """The path of a message in the file, of the first one without a name."""
        if name is None:
            if not self._top:
                raise ValueError("the schema has no message")
            return [0]
        try:
            descriptor = self._pool.FindMessageTypeByName(name)
        except KeyError:
            raise ValueError(f"the schema has no message {name}; it has {', '.join(self.names())}") from None
        return path_of(descriptor, self._top)

    def at(self, indexes: Sequence[int]) -> Any:
        """The class of the message at this path."""
        return message_factory.GetMessageClass(message_at(self._top, indexes))

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
