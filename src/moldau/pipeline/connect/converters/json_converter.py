"""JSON, with or without its schema in each record, as Kafka's JsonConverter writes and reads it."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import orjson

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, string
from moldau.pipeline.connect.converters.converter import Converter, Setup
from moldau.pipeline.connect.converters.framing import wrong_format
from moldau.pipeline.connect.converters.json_schemas import json_of_schema, schema_of_json
from moldau.pipeline.connect.converters.json_values import Form, has_decimals, reader, without_schema, writer
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import NULL, Typed
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import Declaration

_PASSED: Final = (
    orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_OPEN: Final = b'{"schema":'
_PAYLOAD: Final = b',"payload":'
_CLOSE: Final = b"}"
_NO_SCHEMA: Final = b'{"schema":null,"payload":'


class JsonConverter(Converter):
    java_name = "org.apache.kafka.connect.json.JsonConverter"
    doc = "JSON. With `schemas.enable`, each record is an object with its schema and its payload."
    declarations = (
        Declaration(
            boolean(
                "schemas.enable",
                True,
                "Include schemas within each of the serialized values and keys.",
                importance=Importance.HIGH,
            ),
            group="Schemas",
            display_name="Enable Schemas",
        ),
        Declaration(
            integer(
                "schemas.cache.size",
                1000,
                "The maximum number of schemas that can be cached in this converter instance.",
                importance=Importance.HIGH,
            ),
            group="Schemas",
            display_name="Schema Cache Size",
        ),
        Declaration(
            string(
                "schema.content",
                None,
                "A schema in the form of this converter. It is the schema of all records, which are read without a "
                "schema of their own then.",
                importance=Importance.HIGH,
            ),
            group="Schemas",
            display_name="Schema Content",
        ),
        Declaration(
            string(
                "decimal.format",
                "BASE64",
                "How decimals are written: BASE64 as the bytes of the unscaled number, NUMERIC as a number.",
                importance=Importance.LOW,
                check=one_of("BASE64", "NUMERIC", ignore_case=True),
            ),
            group="Serialization",
            display_name="Decimal Format",
        ),
        Declaration(
            boolean(
                "replace.null.with.default",
                True,
                "Whether to replace fields that have a default value and that are null to the default value.",
                importance=Importance.LOW,
            ),
            group="Serialization",
            display_name="Replace null with default",
        ),
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        said = self.settings
        self._has_schemas: bool = said["schemas.enable"]
        is_numeric = said["decimal.format"].upper() == "NUMERIC"
        self._form = Form(is_numeric, said["replace.null.with.default"])
        size_max = max(1, said["schemas.cache.size"])
        self._writers = Derived(self._writer_of, size_max)
        self._readers: dict[bytes, _Reader] = {}
        self._readers_max = size_max
        self._prefix = b"\0"
        """What the last records began with: their schema, up to the payload."""
        self._last = _Reader(None, None, False)
        self._content = self._content_reader(said["schema.content"])

    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if schema is None:
            if value is None:
                return None
            written = self._without_schema(value)
            return _NO_SCHEMA + written + _CLOSE if self._has_schemas else written
        prefix, write = self._writers.of(schema)
        try:
            written = orjson.dumps(write(value))
        except DataError as wrong:
            raise DataError(
                f"JsonConverter cannot write the record's {self.setup.use}: {wrong}. Mend the value or its schema"
            ) from None
        return prefix + written + _CLOSE if self._has_schemas else written

    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        if data is None:
            return NULL
        if self._content is not None:
            return self._read(self._content, data, data)
        if not self._has_schemas:
            return Typed(None, self._parsed(data) if data else None)
        if data.startswith(self._prefix) and data.endswith(_CLOSE):
            payload = data[len(self._prefix) : -1]
            try:
                return self._read(self._last, payload, data)
            except DataError:
                pass  # Perhaps there is more in the envelope than the payload.
        return self._read_envelope(data)

    def _read_envelope(self, data: bytes) -> Typed:
        found = self._parsed(data)
        if type(found) is not dict or found.keys() != {"schema", "payload"}:
            raise DataError(
                'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain '
                "additional fields. "
                + wrong_format(
                    data,
                    "JSON with its schema",
                    "if the records are plain JSON, set "
                    f"{self.setup.setting}.schemas.enable=false; if they are in another format, use its converter",
                )
            )
        if found["schema"] is None:
            return Typed(None, found["payload"])
        text = orjson.dumps(found["schema"])
        read = self._readers.get(text)
        if read is None:
            read = self._reader_of(found["schema"])
            if len(self._readers) >= self._readers_max:
                self._readers.pop(next(iter(self._readers)))
            self._readers[text] = read
        prefix = _OPEN + text + _PAYLOAD
        if data.startswith(prefix):
            self._prefix, self._last = prefix, read
        if read.is_exact:
            found = self._parsed_exactly(data)
        return self._typed(read, found["payload"], data)

    def _read(self, read: "_Reader", text: bytes, data: bytes) -> Typed:
        return self._typed(read, (self._parsed_exactly if read.is_exact else self._parsed)(text), data)

    def _typed(self, read: "_Reader", payload: Any, data: bytes) -> Typed:
        if read.convert is None:
            return Typed(None, payload)
        try:
            return Typed(read.schema, read.convert(payload))
        except DataError as wrong:
            raise DataError(
                f"the record's {self.setup.use} does not fit the schema it came with: {wrong}. Mend the program that "
                "writes the records"
            ) from None

    def _parsed(self, data: bytes) -> Any:
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as wrong:
            raise self._no_json(data, wrong) from None

    def _parsed_exactly(self, data: bytes) -> Any:
        try:
            return json.loads(data, parse_float=Decimal)
        except ValueError as wrong:
            raise self._no_json(data, wrong) from None

    def _no_json(self, data: bytes, wrong: ValueError) -> DataError:
        cure = f"use the converter of its format in {self.setup.setting}, or mend the program that writes it"
        return DataError(wrong_format(data, f"JSON ({wrong})", cure))

    def _without_schema(self, value: Any) -> bytes:
        try:
            return orjson.dumps(value, default=without_schema, option=_PASSED)
        except TypeError:
            pass  # A key that is no text, a date or something else that JSON has no form for.
        try:
            return orjson.dumps(without_schema(value), option=_PASSED)
        except TypeError as wrong:
            raise DataError(
                f"JsonConverter cannot write the record's {self.setup.use}: {wrong}. Convert it to a type of Connect"
            ) from None

    def _writer_of(self, schema: Schema) -> tuple[bytes, Callable[[Any], Any]]:
        text = orjson.dumps(json_of_schema(schema, self._default_to_json))
        return _OPEN + text + _PAYLOAD, writer(schema, self._form)

    def _default_to_json(self, schema: Schema, default: Any) -> Any:
        return writer(schema, self._form)(default)

    def _reader_of(self, text: Any) -> "_Reader":
        schema = schema_of_json(text, lambda of, found: reader(of, self._form)(found))
        return _Reader(schema, reader(schema, self._form), has_decimals(schema))

    def _content_reader(self, content: str | None) -> "_Reader | None":
        if not content or not self._has_schemas:
            return None
        try:
            return self._reader_of(orjson.loads(content))
        except (ValueError, DataError) as wrong:
            raise ConfigError(
                f"Invalid value {content} for configuration schema.content: it is no schema of JsonConverter: {wrong}"
            ) from None


class _Reader:
    """A schema and what reads its payload."""

    __slots__ = ("convert", "is_exact", "schema")

    def __init__(self, schema: Schema | None, convert: Callable[[Any], Any] | None, is_exact: bool) -> None:
        self.schema = schema
        self.convert = convert
        self.is_exact = is_exact
        """Its numbers are not rounded to floating point."""
