"""PRINT: the records of a topic as lines, before them the formats they seem to be in."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.serdes.registry import AvroSerde
from moldau.pipeline.serdes.serde import ServiceAway
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.formats.infer import inferred_columns
from moldau.pipeline.sql.formats.registry import URL, SchemaFinder
from moldau.pipeline.sql.queries.row_stream import End, EndReason, ResultColumn, RowStream
from moldau.pipeline.sql.queries.sniffing import FRAME_BYTES, Framed, Sniffer
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.statements import Print
from moldau.pipeline.sql.types import STRING

LINE: Final = ResultColumn("LINE", STRING)


class Printing:
    """Records in, lines out; ends the stream after the last one."""

    def __init__(self, statement: Print, stream: RowStream, registry_url: str | None) -> None:
        self._statement = statement
        self._stream = stream
        self._keys = Sniffer(framed_reader(statement.topic, registry_url, is_key=True), is_key=True)
        self._values = Sniffer(framed_reader(statement.topic, registry_url, is_key=False), is_key=False)
        self._seen = 0
        self._shown = 0
        self._told: list[str] = []

    def take(self, batch: Sequence[Columns]) -> list[tuple[str]]:
        lines: list[str] = []
        for columns in batch:
            for index in range(len(columns)):
                self._seen += 1
                if (self._seen - 1) % self._statement.interval:
                    continue
                lines.append(self._line(columns, index))
                self._shown += 1
                if self._shown == self._statement.limit:
                    self._stream.offer(self._rows(lines))
                    self._stream.finish(End(EndReason.LIMIT))
                    return []
        return self._rows(lines)

    def _rows(self, lines: list[str]) -> list[tuple[str]]:
        """The formats are told again when they have changed."""
        if not lines:
            return []
        formats = [f"Key format: {self._keys.formats}", f"Value format: {self._values.formats}"]
        new = [line for line in formats if line not in self._told]
        self._told = formats
        return [(line,) for line in [*new, *lines]]

    def _line(self, columns: Columns, index: int) -> str:
        key, value = self._keys.text(columns.keys[index]), self._values.text(columns.values[index])
        time = time_text(columns.timestamps_ms[index])
        return f"rowtime: {time}, key: {key}, value: {value}, partition: {columns.partition}"


def time_text(timestamp_ms: int) -> str:
    seconds, ms = divmod(timestamp_ms, 1_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y/%m/%d %H:%M:%S}.{ms:03} Z"
    except (ValueError, OverflowError, OSError):
        return str(timestamp_ms)


def framed_reader(topic: str, registry_url: str | None, *, is_key: bool) -> Framed | None:
    if registry_url is None:
        return None
    finder, readers = SchemaFinder(registry_url), dict[int, tuple[str, Callable[[bytes], str]] | None]()

    def read(data: bytes) -> tuple[str, str] | None:
        schema_id = int.from_bytes(data[1:FRAME_BYTES], "big")
        if schema_id not in readers:
            readers[schema_id] = _schema_reader(finder, schema_id, topic, is_key)
        known = readers[schema_id]
        if known is None:
            return None
        name, text_of = known
        try:
            return name, text_of(data)
        except (ValueError, TypeError, LookupError):
            return None

    return read


def _schema_reader(
    finder: SchemaFinder, schema_id: int, topic: str, is_key: bool
) -> tuple[str, Callable[[bytes], str]] | None:
    try:
        schema = finder.by_id(schema_id)
    except (ServiceAway, SqlError):
        return None
    if schema is None:
        return None
    match schema.type:
        case "JSON":
            return "JSON_SR", lambda data: data[FRAME_BYTES:].decode()
        case "AVRO":
            decode = AvroSerde(finder.url).decoder(topic, is_key=is_key)
            return "AVRO", lambda data: _text(decode(data))
    form = Format(schema.type, ((URL, finder.url),))
    columns = inferred_columns(form, schema, is_key=is_key)
    row_of = row_serde(form, columns, is_key=is_key).decoder(topic, is_key=is_key)
    names = [column.name for column in columns]
    return schema.type, lambda data: _text(dict(zip(names, row_of(data), strict=True)))


def _text(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()
