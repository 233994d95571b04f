"""Reads the lines of a file that grows, as `tail -F` does. Owns the open file and the position behind the last line.

A line ends with LF, CR LF or CR. An unfinished line stays in the file until its end has been written. A file that
becomes shorter, or that is replaced, is read from its beginning. Pipes have no position.
"""

import logging
import os
import re
import stat
from collections.abc import Sequence
from typing import Final

log = logging.getLogger(__name__)

READ_BYTES: Final = 1 << 20
LINE_BYTES_MAX: Final = 64 << 20
_ENDS: Final = re.compile(rb"\r\n|\n|\r")


class LineTooLong(ValueError):
    """A line is longer than LINE_BYTES_MAX."""


class TextFile:
    def __init__(self, path: str, position: int) -> None:
        self.path = path
        self.position = position
        """Of the first byte that no line returned so far contains."""
        self.is_pipe = False
        self._fd = -1
        self._rest = b""
        """What has been read beyond `position`."""
        self._lines: Sequence[bytes] = ()
        self._sizes: Sequence[int] | None = None
        """Of the lines with their ends. None: the length and 1."""
        self._taken = 0

    def lines(self, count_max: int) -> Sequence[bytes]:
        """The next lines without their ends. Empty if the file has no more. Raises FileNotFoundError while there is no
        file."""
        if self._taken >= len(self._lines):
            self._read()
        first, self._taken = self._taken, min(self._taken + count_max, len(self._lines))
        taken = self._lines[first : self._taken]
        if self._sizes is None:
            self.position += sum(map(len, taken)) + len(taken)
        else:
            self.position += sum(self._sizes[first : self._taken])
        return taken

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._rest, self._lines, self._sizes, self._taken = -1, b"", (), None, 0

    def _read(self) -> None:
        self._lines, self._sizes, self._taken = (), None, 0
        if self._fd < 0:
            self._open()
        while True:
            try:
                block = os.read(self._fd, READ_BYTES)
            except BlockingIOError:
                return
            if not block:
                self._at_end()
                return
            self._rest += block
            if self._split():
                return
            if len(self._rest) > LINE_BYTES_MAX:
                raise LineTooLong(
                    f"{self.path} has a line of more than {LINE_BYTES_MAX >> 20} MB at position {self.position}"
                )

    def _open(self) -> None:
        fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        facts = os.fstat(fd)
        self._fd = fd
        self.is_pipe = not stat.S_ISREG(facts.st_mode)
        if self.is_pipe:
            return
        if facts.st_size < self.position:
            self._say_shorter(facts.st_size)
            self.position = 0
        os.lseek(fd, self.position, os.SEEK_SET)

    def _split(self) -> bool:
        """Moves the complete lines from `_rest` to `_lines`. False if there is none."""
        if b"\r" not in self._rest:
            lines = self._rest.split(b"\n")
            self._rest = lines.pop()
            self._lines = lines
            return bool(lines)
        found, sizes, start = [], [], 0
        for end in _ENDS.finditer(self._rest):
            if end.end() == len(self._rest) and end[0] == b"\r":
                # The other half of \r\n may follow.
                break
            found.append(self._rest[start : end.start()])
            sizes.append(end.end() - start)
            start = end.end()
        self._rest = self._rest[start:]
        self._lines, self._sizes = found, sizes
        return bool(found)

    def _at_end(self) -> None:
        """Checks whether the path still names the file that is open, and whether that has become shorter."""
        if self.is_pipe:
            return
        try:
            named = os.stat(self.path)
        except FileNotFoundError:
            # It is being replaced, or will never return: what is open stays readable.
            return
        opened = os.fstat(self._fd)
        if (named.st_dev, named.st_ino) != (opened.st_dev, opened.st_ino):
            unfinished = f", its last {len(self._rest)} bytes without the end of a line" if self._rest else ""
            log.warning(
                "%s was replaced by another file: the old one is read up to %d%s; the new one is read from its "
                "beginning",
                self.path,
                self.position,
                unfinished,
            )
            self.close()
            self.position = 0
        elif named.st_size < self.position + len(self._rest):
            self._say_shorter(named.st_size)
            self.close()
            self.position = 0

    def _say_shorter(self, size: int) -> None:
        log.warning(
            "%s has %d bytes, and was read up to %d before: it was truncated or replaced, and is read from its "
            "beginning",
            self.path,
            size,
            self.position,
        )
