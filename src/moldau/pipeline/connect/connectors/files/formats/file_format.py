"""What a format is: it makes writers for new files and reads whole ones."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import IO, Any, Protocol

from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema


class FileWriter(Protocol):
    """One file. The same records give the same bytes."""

    def write(self, value: Any) -> None:
        """Raises DataError for a value that does not fit, and has written nothing then."""

    @property
    def size(self) -> int:
        """Bytes that have been written, more or less: the last block is not compressed yet."""

    def finish(self) -> None:
        """The file is complete. The stream stays open."""

    def abandon(self) -> None:
        """The file is not wanted any more. The stream is still open."""


class FileFormat(ABC):
    extension: str
    needs_schema: bool

    @abstractmethod
    def writer(self, out: IO[bytes], schema: Schema | None, name: str) -> FileWriter:
        """Raises DataError for a schema that the format cannot write. `name` is that of the file."""


class FileReader(Protocol):
    def __call__(self, source: IO[bytes], extension: str) -> Iterator[Typed]:
        """The rows of a file in their order. Raises an error of the format for a broken file."""
