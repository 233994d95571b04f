"""The bytes of values, one after the other with a separator, as Confluent's ByteArrayFormat writes them."""

import gzip
from collections.abc import Iterator
from typing import IO, Any, Final

from moldau.pipeline.connect.connectors.files.formats.file_format import FileFormat, FileWriter
from moldau.pipeline.connect.connectors.files.formats.json_lines import GZIP
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema, SchemaType

LINES: Final = "\n"
_BYTES: Final = Schema(SchemaType.BYTES, optional=True)


class ByteFiles(FileFormat):
    needs_schema = False

    def __init__(self, extension: str, separator: bytes, gzip_level: int | None) -> None:
        dotted = extension if extension.startswith(".") else f".{extension}"
        self.extension = dotted if gzip_level is None else f"{dotted}{GZIP}"
        self._separator = separator
        self._gzip_level = gzip_level

    def writer(self, out: IO[bytes], schema: Schema | None, name: str) -> FileWriter:
        return ByteFileWriter(out, self._separator, self._gzip_level)


class ByteFileWriter:
    def __init__(self, out: IO[bytes], separator: bytes, gzip_level: int | None) -> None:
        self._separator = separator
        self._gzip = None if gzip_level is None else gzip.GzipFile("", "wb", gzip_level, out, mtime=0)
        self._out: Any = self._gzip or out
        self.size = 0

    def write(self, value: Any) -> None:
        if isinstance(value, str):
            value = value.encode()
        if not isinstance(value, bytes | bytearray | memoryview):
            raise DataError(
                f"format.class=ByteArrayFormat writes bytes, and the value is a {type(value).__name__}: set "
                "value.converter to ByteArrayConverter, or use another format.class"
            )
        self._out.write(value)
        self._out.write(self._separator)
        self.size += len(value) + len(self._separator)

    def finish(self) -> None:
        if self._gzip is not None:
            self._gzip.close()

    def abandon(self) -> None:
        self.finish()


def read_lines(source: IO[bytes], extension: str) -> Iterator[Typed]:
    """Each line is a value."""
    lines: Any = gzip.GzipFile(fileobj=source) if extension.endswith(GZIP) else source
    for line in lines:
        yield Typed(_BYTES, line.removesuffix(b"\n"))
