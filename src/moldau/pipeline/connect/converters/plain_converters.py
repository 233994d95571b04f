"""Converters of one plain type: text, bytes, a boolean, numbers. Byte for byte what Kafka's serializers write."""

import codecs
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.key import Importance, string
from moldau.pipeline.connect.converters.converter import Converter, Setup
from moldau.pipeline.connect.converters.framing import wrong_format
from moldau.pipeline.connect.converters.java_strings import java_string
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.declarations import Declaration
from moldau.pipeline.serdes import BOOLEAN, DOUBLE, FLOAT, INT, LONG, SHORT, Serde

ENCODING: Final = "converter.encoding"
_CURE: Final = "use the converter of its format in {}"
_OPTIONAL_STRING: Final = Schema(SchemaType.STRING, optional=True)
_OPTIONAL_BYTES: Final = Schema(SchemaType.BYTES, optional=True)


class StringConverter(Converter):
    java_name = "org.apache.kafka.connect.storage.StringConverter"
    doc = "Text. What is no text is written as Java writes it: `Struct{a=1}`."
    declarations = (
        Declaration(
            string(
                ENCODING,
                "UTF-8",
                "The name of the character set to use when encoding or decoding text.",
                importance=Importance.HIGH,
            ),
            display_name="Encoding",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._encoding = _codec_of(self.settings[ENCODING])

    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        if data is None:
            return Typed(_OPTIONAL_STRING, None)
        # As Java does, bytes that are no text become the character for that.
        return Typed(_OPTIONAL_STRING, str(data, self._encoding, "replace"))

    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        text = value if type(value) is str else java_string(value, schema)
        return text.encode(self._encoding, "replace")


def _codec_of(name: str) -> str:
    try:
        codec = codecs.lookup(name)
    except LookupError:
        codec = None
    if codec is None or not codec._is_text_encoding:
        raise ConfigError(
            f"Invalid value {name} for configuration {ENCODING}: it is no character set known here; use UTF-8, or "
            "the name of another one, such as ISO-8859-1"
        )
    return codec.name


class ByteArrayConverter(Converter):
    java_name = "org.apache.kafka.connect.converters.ByteArrayConverter"
    doc = "Bytes, passed on as they are."

    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        return Typed(_OPTIONAL_BYTES, data)

    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if (schema is not None and schema.type is not SchemaType.BYTES) or not isinstance(
            value, bytes | bytearray | memoryview | None
        ):
            cure = f"use another converter in {self.setup.setting}, such as StringConverter or JsonConverter"
            raise self.unfit(value, "bytes only", cure)
        return value if value is None or type(value) is bytes else bytes(value)


class _FixedConverter(Converter):
    """One type of fixed length."""

    _serde: ClassVar[Serde[Any]]
    _type: ClassVar[SchemaType]
    _values: ClassVar[tuple[type, ...]]
    _kind: ClassVar[str]

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._encode = self._serde.encoder("", is_key=False)
        self._decode = self._serde.decoder("", is_key=False)
        self._schema = Schema(self._type, optional=True)

    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        try:
            return Typed(self._schema, self._decode(data))
        except ValueError as wrong:
            cure = _CURE.format(self.setup.setting)
            raise DataError(wrong_format(data or b"", f"{self._kind} ({wrong})", cure)) from None

    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        if type(value) not in self._values:
            cure = f"Cast it to {self._type}, or use another converter in {self.setup.setting}"
            raise self.unfit(value, self._kind, cure)
        try:
            return self._encode(value)
        except TypeError as wrong:
            cure = f"Cast it, or use a larger type in {self.setup.setting}"
            raise DataError(f"{self.name()}: {wrong}. {cure}") from None


class BooleanConverter(_FixedConverter):
    java_name = "org.apache.kafka.connect.converters.BooleanConverter"
    doc = "A boolean: one byte."
    _serde, _type, _values, _kind = BOOLEAN, SchemaType.BOOLEAN, (bool,), "a boolean of one byte"


class ShortConverter(_FixedConverter):
    java_name = "org.apache.kafka.connect.converters.ShortConverter"
    doc = "A whole number of 16 bits."
    _serde, _type, _values, _kind = SHORT, SchemaType.INT16, (int,), "a whole number of 2 bytes"


class IntegerConverter(_FixedConverter):
    java_name = "org.apache.kafka.connect.converters.IntegerConverter"
    doc = "A whole number of 32 bits."
    _serde, _type, _values, _kind = INT, SchemaType.INT32, (int,), "a whole number of 4 bytes"


class LongConverter(_FixedConverter):
    java_name = "org.apache.kafka.connect.converters.LongConverter"
    doc = "A whole number of 64 bits."
    _serde, _type, _values, _kind = LONG, SchemaType.INT64, (int,), "a whole number of 8 bytes"


class FloatConverter(_FixedConverter):
    java_name = "org.apache.kafka.connect.converters.FloatConverter"
    doc = "A floating point number of 32 bits."
    _serde, _type, _values, _kind = FLOAT, SchemaType.FLOAT32, (float, int), "a number of 4 bytes"


class DoubleConverter(_FixedConverter):
    java_name = "org.apache.kafka.connect.converters.DoubleConverter"
    doc = "A floating point number of 64 bits."
    _serde, _type, _values, _kind = DOUBLE, SchemaType.FLOAT64, (float, int), "a number of 8 bytes"


PLAIN: Final[Sequence[type[Converter]]] = (
    StringConverter,
    ByteArrayConverter,
    BooleanConverter,
    ShortConverter,
    IntegerConverter,
    LongConverter,
    FloatConverter,
    DoubleConverter,
)
