"""Parquet files. A struct is a row; any other value is a row with the column `value`."""

from collections.abc import Iterator
from typing import IO, Any, Final

import pyarrow as pa
from pyarrow import parquet

from moldau.pipeline.connect.connectors.files.formats.arrow_values import (
    ARROW,
    arrow_schema,
    read_value,
    schema_of_fields,
)
from moldau.pipeline.connect.connectors.files.formats.file_format import FileFormat, FileWriter
from moldau.pipeline.connect.connectors.files.formats.plain_values import (
    VALUE,
    Convert,
    Form,
    MapForm,
    from_plain,
    to_plain,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import TIMESTAMP, Schema, SchemaType

EXTENSION: Final = ".parquet"
CODECS: Final = {
    "none": "",
    "snappy": ".snappy",
    "gzip": ".gz",
    "lz4": ".lz4",
    "brotli": ".br",
    "zstd": ".zst",
}
BATCH_ROWS_FIRST: Final = 16
BATCH_ROWS_MAX: Final = 2_000
BATCH_BYTES: Final = 4 << 20
"""Rows are held as Python objects until there are about so many bytes of them, by the size of the rows before."""
GROUP_BYTES: Final = 32 << 20
"""Of values in memory, before they become a row group."""
READ_ROWS: Final = 1_000
VALUE_ROW: Final = "moldau.connect.Value"
"""The name of rows that have a single value."""


class ParquetFiles(FileFormat):
    needs_schema = True

    def __init__(self, codec: str) -> None:
        self.extension = f"{CODECS[codec]}{EXTENSION}"
        self._codec = codec

    def writer(self, out: IO[bytes], schema: Schema | None, name: str) -> FileWriter:
        assert schema is not None
        return ParquetFileWriter(out, schema, self._codec)


class ParquetFileWriter:
    def __init__(self, out: IO[bytes], schema: Schema, codec: str) -> None:
        self._out = out
        self._convert = to_plain(schema, ARROW)
        self._is_row = schema.type is SchemaType.STRUCT
        self._arrow = arrow_schema(
            schema if self._is_row else schemas.struct({VALUE: schema}, name=VALUE_ROW)
        )
        try:
            self._writer = parquet.ParquetWriter(out, self._arrow, compression=codec)
        except (pa.ArrowException, ValueError) as wrong:
            raise DataError(f"its schema cannot be written as one of Parquet: {wrong}") from None
        self._rows: list[Any] = []
        self._batch_rows = BATCH_ROWS_FIRST
        self._batches: list[pa.RecordBatch] = []
        self._group_bytes = 0

    @property
    def size(self) -> int:
        return self._out.tell() + self._group_bytes

    def write(self, value: Any) -> None:
        plain = self._convert(value)
        if plain is None and self._is_row:
            raise DataError("it is null, and rows of Parquet are not")
        self._rows.append(plain if self._is_row else {VALUE: plain})
        if len(self._rows) >= self._batch_rows:
            self._make_batch()

    def finish(self) -> None:
        self._make_batch()
        self._write_group()
        self._writer.close()

    def abandon(self) -> None:
        # Otherwise it closes itself when it is collected, and its stream is closed by then.
        self._writer.close()

    def _make_batch(self) -> None:
        if self._rows:
            batch = pa.RecordBatch.from_pylist(self._rows, self._arrow)
            self._batches.append(batch)
            self._group_bytes += batch.nbytes
            fitting = BATCH_BYTES * len(self._rows) // max(batch.nbytes, 1)
            self._batch_rows = max(1, min(BATCH_ROWS_MAX, fitting))
            self._rows = []
        if self._group_bytes >= GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches))
            self._batches, self._group_bytes = [], 0


def read_parquet(source: IO[bytes], extension: str) -> Iterator[Typed]:
    file = parquet.ParquetFile(source)
    schema = schema_of_fields(file.schema_arrow, file.schema_arrow.metadata)
    convert = from_plain(schema, READ)
    is_value = schema.name == VALUE_ROW
    value_schema = schema.fields[0].schema if is_value else schema
    for batch in file.iter_batches(READ_ROWS):
        for row in batch.to_pylist():
            value = convert(row)
            yield Typed(value_schema, value[VALUE] if is_value else value)


def _read(schema: Schema) -> Convert | None:
    return read_value if schema.name == TIMESTAMP else None


READ: Final = Form(_read, lambda schema: MapForm.PAIRS)
