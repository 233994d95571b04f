"""Avro container files, with Connect's names of types in the schema, as Confluent's AvroFormat writes them."""

import hashlib
from collections.abc import Iterator
from typing import IO, Any, Final

from fastavro import parse_schema, reader
from fastavro.write import Writer

from moldau.pipeline.connect.connectors.files.formats.avro_schemas import avro_of, is_avro_map, schema_of
from moldau.pipeline.connect.connectors.files.formats.file_format import FileFormat, FileWriter
from moldau.pipeline.connect.connectors.files.formats.plain_values import (
    Convert,
    Form,
    MapForm,
    from_plain,
    to_plain,
)
from moldau.pipeline.connect.data import logical
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema, SchemaType

EXTENSION: Final = ".avro"
CODECS: Final = ("null", "deflate", "snappy", "bzip2", "zstandard", "xz")
BLOCK_BYTES: Final = 64_000


class AvroFiles(FileFormat):
    needs_schema = True

    def __init__(self, codec: str) -> None:
        self.extension = EXTENSION
        self._codec = codec

    def writer(self, out: IO[bytes], schema: Schema | None, name: str) -> FileWriter:
        assert schema is not None
        return AvroFileWriter(out, schema, self._codec, name)


class AvroFileWriter:
    def __init__(self, out: IO[bytes], schema: Schema, codec: str, name: str) -> None:
        self._out = out
        self._convert = to_plain(schema, WRITTEN)
        # fastavro draws the marker between blocks by lot; the same records must give the same bytes.
        marker = hashlib.md5(name.encode(), usedforsecurity=False).digest()
        try:
            parsed = parse_schema(avro_of(schema))
            self._writer = Writer(out, parsed, codec, sync_interval=BLOCK_BYTES, sync_marker=marker)
        except (ValueError, TypeError, KeyError) as wrong:
            raise DataError(f"its schema cannot be written as one of Avro: {wrong!r}") from None

    @property
    def size(self) -> int:
        return self._out.tell() + int(self._writer.io.tell())  # type: ignore[attr-defined]

    def write(self, value: Any) -> None:
        self._writer.write(self._convert(value))

    def finish(self) -> None:
        self._writer.flush()

    def abandon(self) -> None:
        pass


def read_avro(source: IO[bytes], extension: str) -> Iterator[Typed]:
    rows = reader(source)
    schema = schema_of(rows.writer_schema)
    convert = from_plain(schema, READ)
    for row in rows:
        yield Typed(schema, convert(row))


def _written(schema: Schema) -> Convert | None:
    if schema.name is not None and (plain := logical.to_plain(schema)) is not None:
        return plain
    return bytes if schema.type is SchemaType.BYTES else None


def _map_form(schema: Schema) -> MapForm:
    return MapForm.DICT if is_avro_map(schema) else MapForm.ENTRIES


WRITTEN: Final = Form(_written, _map_form)
READ: Final = Form(lambda schema: None, _map_form)
