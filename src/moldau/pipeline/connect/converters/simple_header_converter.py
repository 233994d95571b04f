"""Headers as text, with the type that the text looks like."""

from typing import Any

from moldau.pipeline.connect.converters.converter import HEADER, Converter
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.header_texts import NULL, Typed, read_text, text_of
from moldau.pipeline.connect.data.schema import Schema


class SimpleHeaderConverter(Converter):
    java_name = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
    doc = (
        "Text, read as the type that it looks like: `12` is a number, `2020-01-31` a date, `[1,2]` an array."
    )
    uses = (HEADER,)

    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        if data is None:
            return NULL
        try:
            return read_text(data.decode())
        except (UnicodeDecodeError, RecursionError):
            return Typed(schemas.BYTES, data)

    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return None if value is None else text_of(value, schema).encode()
