"""Protobuf with a schema id and the message's place in front, as Confluent's ProtobufConverter writes and reads it."""

from collections.abc import Callable
from typing import Any

from moldau.core.settings.key import boolean
from moldau.pipeline.connect.converters.converter import Setup
from moldau.pipeline.connect.converters.registry.protobuf.messages import Messages, message_class, read_path
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_reading import ProtobufReading
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_schemas import ProtobufFile
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_writing import message_writer
from moldau.pipeline.connect.converters.registry.registry_converter import Described, RegistryConverter
from moldau.pipeline.connect.converters.registry.registry_settings import COMMON
from moldau.pipeline.connect.converters.registry.schema_store import StoredSchema
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import Declaration


class ProtobufConverter(RegistryConverter):
    java_name = "io.confluent.connect.protobuf.ProtobufConverter"
    doc = "Protobuf messages, with schemas in a schema registry."
    kind = "PROTOBUF"
    title = "Protobuf"
    declarations = (
        *COMMON,
        Declaration(
            boolean(
                "optional.for.nullables",
                False,
                "Whether fields that may be null are `optional`. Otherwise null becomes 0, false or an empty text.",
            ),
            group="Protobuf",
        ),
        Declaration(
            boolean(
                "wrapper.for.nullables",
                False,
                "Whether fields that may be null are wrapper messages, such as google.protobuf.Int32Value.",
            ),
            group="Protobuf",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        said = self.settings
        self._options = {
            "optionals": said["optional.for.nullables"],
            "wrappers": said["wrapper.for.nullables"],
        }

    def describe(self, schema: Schema) -> Described:
        return Described(*ProtobufFile(**self._options).text(schema))

    def writer(self, schema: Schema, stored: StoredSchema) -> Callable[[Any], bytes]:
        messages = Messages(stored.text, stored.references)
        message = messages.named(self.describe(schema).record or "")
        front = messages.path_of(message)
        write = message_writer(message, schema)

        def encode(value: Any) -> bytes:
            made: bytes = write(value).SerializeToString(deterministic=True)
            return front + made

        return encode

    def reader(self, stored: StoredSchema) -> Callable[[bytes], Typed]:
        from google.protobuf.message import DecodeError

        messages = Messages(stored.text, stored.references)
        readers: dict[tuple[int, ...], tuple[Schema, Callable[[bytes], Any]]] = {}

        def reader_at(path: tuple[int, ...]) -> tuple[Schema, Callable[[bytes], Any]]:
            message = messages.at(path)
            schema, read = ProtobufReading(**self._options).reader(message)
            parse = message_class(message).FromString
            return schema, lambda data: read(parse(data))

        def decode(data: bytes) -> Typed:
            path, at = read_path(data)
            if path not in readers:
                readers[path] = reader_at(path)
            schema, read = readers[path]
            try:
                return Typed(schema, read(data[at:]))
            except DecodeError as wrong:
                raise DataError(f"it does not decode as Protobuf: {wrong}") from None

        return decode
