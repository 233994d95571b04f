"""The parts of an answer: bytes in memory and slices of files.

A connection may send a slice with sendfile; the layers above the socket need not know.
"""

from typing import NamedTuple

from moldau.core.ports import Buffer, File


class FileSlice(NamedTuple):
    file: File
    position: int
    size: int

    def read(self) -> bytes:
        return self.file.read(self.position, self.size)


Chunk = Buffer | FileSlice
