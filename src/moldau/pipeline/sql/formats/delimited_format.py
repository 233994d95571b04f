"""DELIMITED: the columns as text, with a delimiter between them and quotes around what needs them (RFC 4180).

An empty field is NULL, whatever the column's type; so an empty text comes back as NULL.
"""

import base64
import csv
import io
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.expressions.numbers import fitted
from moldau.pipeline.sql.formats.number_ranges import whole_number
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Column,
    SqlType,
)
from moldau.pipeline.sql.types import Decimal as DecimalType
from moldau.pipeline.sql.value_texts import decimal_text, double_text

NAMED_DELIMITERS: Final = {"TAB": "\t", "SPACE": " "}
DELIMITER_DEFAULT: Final = ","
QUOTE: Final = '"'
_LINE_ENDS: Final = ("\r", "\n")


def delimiter_of(form: Format) -> str:
    text = dict(form.properties).get("DELIMITER", DELIMITER_DEFAULT)
    found = NAMED_DELIMITERS.get(text.upper(), text)
    if len(found) != 1 or found == QUOTE or found in _LINE_ENDS:
        raise SqlError(
            f"the delimiter {text!r} of the format DELIMITED is not usable",
            hint="It is one character, TAB or SPACE, and neither a quote nor a line end.",
        )
    return found


class DelimitedRowSerde(Serde):
    def __init__(self, columns: Sequence[Column], delimiter: str = DELIMITER_DEFAULT) -> None:
        for column in columns:
            if column.type not in _READERS and not isinstance(column.type, DecimalType):
                raise SqlError(
                    f"the format DELIMITED does not hold the {column.type} of column {column.name}",
                    hint="It holds no ARRAY, MAP or STRUCT. Use JSON or AVRO.",
                )
        self._columns = tuple(columns)
        self._delimiter = delimiter

    @property
    def name(self) -> str:
        return f"delimited({self._delimiter!r} {', '.join(map(str, self._columns))})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        if not self._columns:
            return lambda row: None if row is None or is_key else b""
        writers = [_writer(column.type) for column in self._columns]
        delimiter = self._delimiter
        needs_quotes = re.compile(rf"""[{re.escape(delimiter)}"\r\n]|^[\0-#]|[\0- ]$""").search

        def field(text: str) -> str:
            return f'"{text.replace(QUOTE, QUOTE * 2)}"' if needs_quotes(text) else text

        def encode(row: Any) -> bytes | None:
            if row is None:
                return None
            texts = [
                "" if value is None else field(write(value))
                for write, value in zip(writers, row, strict=True)
            ]
            return delimiter.join(texts).encode()

        return encode

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        columns, delimiter = self._columns, self._delimiter
        readers = [(column, _reader(column.type)) for column in columns]

        def decode(data: bytes | None) -> Any:
            if data is None or not columns:
                return None if data is None or is_key else ()
            texts = split(data.decode(), delimiter)
            if len(texts) != len(columns):
                raise ValueError(
                    f"the DELIMITED record has {len(texts)} fields and {len(columns)} columns are declared: "
                    f"{data[:60]!r}; the delimiter is {delimiter!r}"
                )
            row = []
            for (column, read), text in zip(readers, texts, strict=True):
                try:
                    row.append(read(text) if text else None)
                except (ValueError, ArithmeticError) as wrong:
                    raise ValueError(f"DELIMITED column {column.name} {column.type}: {wrong}") from None
            return tuple(row)

        return decode


def split(text: str, delimiter: str) -> list[str]:
    """The fields of the first record."""
    if QUOTE not in text and "\n" not in text and "\r" not in text:
        return text.split(delimiter)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return next((row for row in rows if row), [""])
    except csv.Error as wrong:
        raise ValueError(f"the DELIMITED record is not well-formed: {wrong}: {text[:60]!r}") from None


def _reader(kind: SqlType) -> Callable[[str], Any]:
    if isinstance(kind, DecimalType):
        return lambda text: fitted(Decimal(text.strip()), kind.precision, kind.scale)
    return _READERS[kind]


def _writer(kind: SqlType) -> Callable[[Any], str]:
    if isinstance(kind, DecimalType):
        return decimal_text
    return _WRITERS.get(kind, str)


_READERS: Final[dict[SqlType, Callable[[str], Any]]] = {
    BOOLEAN: lambda text: text.lower() == "true",
    INTEGER: whole_number(INTEGER),
    BIGINT: whole_number(BIGINT),
    DOUBLE: float,
    STRING: str,
    BYTES: lambda text: base64.b64decode(text, validate=True),
    DATE: whole_number(DATE),
    TIME: whole_number(TIME),
    TIMESTAMP: whole_number(TIMESTAMP),
}
_WRITERS: Final[dict[SqlType, Callable[[Any], str]]] = {
    BOOLEAN: lambda value: "true" if value else "false",
    DOUBLE: lambda value: double_text(float(value)),
    BYTES: lambda value: base64.b64encode(value).decode(),
}
