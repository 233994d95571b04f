"""What an answer is made of: bytes in memory and slices of files.

A driver may send a slice with sendfile; nobody above the socket needs to know.
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
