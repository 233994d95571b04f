"""Which format a file has, by its name."""

import zlib
from collections.abc import Mapping
from typing import Final

from pyarrow import ArrowException

from moldau.pipeline.connect.connectors.files.formats.avro_files import read_avro
from moldau.pipeline.connect.connectors.files.formats.byte_files import read_lines
from moldau.pipeline.connect.connectors.files.formats.file_format import FileReader
from moldau.pipeline.connect.connectors.files.formats.json_lines import GZIP, read_json_lines
from moldau.pipeline.connect.connectors.files.formats.parquet_files import read_parquet
from moldau.pipeline.connect.data.errors import DataError

READERS: Final[Mapping[str, FileReader]] = {
    ".json": read_json_lines,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".avro": read_avro,
    ".parquet": read_parquet,
    ".bin": read_lines,
    ".txt": read_lines,
}
BROKEN: Final = (
    ArrowException,
    DataError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    StopIteration,
    zlib.error,
)
"""What readers raise for a file that they cannot read."""


def reader_of(name: str) -> FileReader | None:
    """None for a file of another kind."""
    plain = name.removesuffix(GZIP)
    dot = plain.rfind(".")
    return READERS.get(plain[dot:].lower()) if dot > 0 else None


def needs_seek(name: str) -> bool:
    """A Parquet file is read from its end."""
    return name.lower().endswith(".parquet")
