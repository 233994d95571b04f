"""One JSON value in each line, as Confluent's JsonFormat writes it: without schemas."""

import base64
import gzip
import math
from collections.abc import Callable, Iterator
from typing import IO, Any, Final

import orjson

from moldau.pipeline.connect.connectors.files.formats.file_format import FileFormat, FileWriter
from moldau.pipeline.connect.connectors.files.formats.plain_values import Convert, Form, MapForm, to_plain
from moldau.pipeline.connect.data import logical
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import DECIMAL, Schema, SchemaType
from moldau.pipeline.java_texts.numbers import shortest_float

EXTENSION: Final = ".json"
GZIP: Final = ".gz"


class JsonLines(FileFormat):
    needs_schema = False

    def __init__(self, gzip_level: int | None, *, are_decimals_numbers: bool) -> None:
        """Without a level files are not compressed."""
        self.extension = EXTENSION if gzip_level is None else f"{EXTENSION}{GZIP}"
        self._gzip_level = gzip_level
        self._form = Form(_number_or_text if are_decimals_numbers else _leaf, _map_form)

    def writer(self, out: IO[bytes], schema: Schema | None, name: str) -> FileWriter:
        convert = _plain if schema is None else to_plain(schema, self._form)
        return JsonLinesWriter(out, convert, self._gzip_level)


def json_writer(schema: Schema | None, *, are_decimals_numbers: bool) -> Callable[[Any], bytes]:
    """Makes JSON of values of a schema. The function raises DataError for a value that does not fit."""
    form = Form(_number_or_text if are_decimals_numbers else _leaf, _map_form)
    convert = _plain if schema is None else to_plain(schema, form)

    def written(value: Any) -> bytes:
        try:
            return orjson.dumps(convert(value), default=_default)
        except TypeError as wrong:
            raise DataError(f"it cannot be written as JSON: {wrong}") from None

    return written


class JsonLinesWriter:
    def __init__(self, out: IO[bytes], convert: Convert, gzip_level: int | None) -> None:
        self._convert = convert
        self._gzip = None
        if gzip_level is not None:
            # Without a name and a time: the same records give the same bytes.
            self._gzip = gzip.GzipFile("", "wb", gzip_level, out, mtime=0)
        self._out: Any = self._gzip or out
        self.size = 0

    def write(self, value: Any) -> None:
        try:
            line = orjson.dumps(self._convert(value), default=_default, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError as wrong:
            raise DataError(f"it cannot be written as JSON: {wrong}") from None
        self._out.write(line)
        self.size += len(line)

    def finish(self) -> None:
        if self._gzip is not None:
            self._gzip.close()

    def abandon(self) -> None:
        self.finish()


def read_json_lines(source: IO[bytes], extension: str) -> Iterator[Typed]:
    lines: Any = gzip.GzipFile(fileobj=source) if extension.endswith(GZIP) else source
    for line in lines:
        if line.strip():
            yield Typed(None, orjson.loads(line))


def _leaf(schema: Schema) -> Convert | None:
    if schema.name is not None and (plain := logical.to_plain(schema)) is not None:
        return (lambda value: base64.b64encode(plain(value)).decode()) if schema.name == DECIMAL else plain
    match schema.type:
        case SchemaType.BYTES:
            return lambda value: base64.b64encode(value).decode()
        case SchemaType.FLOAT32:
            return lambda value: shortest_float(value) if math.isfinite(value) else _special(value)
        case SchemaType.FLOAT64:
            return lambda value: float(value) if math.isfinite(value) else _special(value)
    return None


def _map_form(schema: Schema) -> MapForm:
    has_texts = schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING
    return MapForm.DICT if has_texts else MapForm.PAIRS


def _number_or_text(schema: Schema) -> Convert | None:
    if schema.name == DECIMAL:
        return lambda value: orjson.Fragment(str(value))
    return _leaf(schema)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _plain(value: Any) -> Any:
    return value


def _default(value: Any) -> Any:
    """Values without a schema."""
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} has no form in JSON without a schema")
