"""Splits a byte stream into length-prefixed frames, without copying frames that arrive whole.

All connections of a loop read into one scratch buffer. Only an incomplete frame moves to a buffer of its connection. So
an idle connection holds no buffer, and a busy one holds one frame. Pure: the owner of the socket reads into `target()`
and calls `received()`.
"""

import mmap
import struct
from typing import Final

from moldau.core.errors import PeerError

_LENGTH: Final = struct.Struct(">i")
OWN_BUFFER_KEPT_MIN: Final = 64 * 1024
"""A smaller own buffer is released once empty: reading into the scratch buffer is faster."""
OWN_BUFFER_KEPT_MAX: Final = 4 * 1024 * 1024
"""A larger own buffer is released once empty: one huge frame must not keep its memory forever."""


class FrameAssembler:
    __slots__ = ("_end", "_frame_bytes_max", "_is_own", "_limit", "_scratch", "_start", "_view")

    def __init__(self, scratch: memoryview, frame_bytes_max: int) -> None:
        self._scratch = scratch
        self._frame_bytes_max = frame_bytes_max
        self._limit = "socket.request.max.bytes"
        self._view = scratch
        self._is_own = False
        self._start = 0
        self._end = 0

    def limit(self, frame_bytes_max: int, setting: str) -> None:
        """Changes the size of the largest frame that is accepted. `setting` is where it comes from."""
        self._frame_bytes_max, self._limit = frame_bytes_max, setting

    def target(self) -> memoryview:
        """The buffer for the next bytes. Never empty."""
        return self._view[self._end :] if self._end else self._view

    def received(self, count: int) -> None:
        self._end += count

    def next_frame(self) -> memoryview | None:
        """The next whole frame, without its length. Valid until `settle` or the next read."""
        start = self._start
        body = start + 4
        if self._end < body:
            return None
        size = _LENGTH.unpack_from(self._view, start)[0]
        if not 0 <= size <= self._frame_bytes_max:
            raise PeerError(
                f"a frame announces {size} bytes; between 0 and {self._frame_bytes_max} are accepted "
                f"({self._limit}){_tls_hint(size)}"
            )
        end = body + size
        if self._end < end:
            return None
        self._start = end
        return self._view[body:end]

    def settle(self) -> None:
        """Saves an unfinished frame before the scratch buffer serves another connection."""
        left = self._end - self._start
        if left == 0:
            self._start = self._end = 0
            if self._is_own and not OWN_BUFFER_KEPT_MIN <= len(self._view) <= OWN_BUFFER_KEPT_MAX:
                self._view, self._is_own = self._scratch, False
            return
        needed = 4
        if left >= 4:
            needed += _LENGTH.unpack_from(self._view, self._start)[0]
        needed = max(needed, left + 1, 4)
        unfinished = self._view[self._start : self._end]
        if not self._is_own or len(self._view) < needed:
            own = _buffer(needed)
            own[:left] = unfinished
            self._view, self._is_own = own, True
        elif self._start:
            self._view[:left] = bytes(unfinished)
        self._start, self._end = 0, left

    def release(self) -> None:
        """Releases the buffer of an idle connection."""
        if self._is_own and self._start == self._end:
            self._view, self._is_own, self._start, self._end = self._scratch, False, 0, 0

    @property
    def buffered_bytes(self) -> int:
        return self._end - self._start


def _tls_hint(size: int) -> str:
    """The first bytes of a TLS handshake, read as a length, are 0x1603 with a version."""
    if size >> 16 != 0x1603:
        return ""
    return (
        "; these are the first bytes of TLS, and this listener has none: set security.protocol of the client"
    )


def _buffer(size: int) -> memoryview:
    """Large buffers take memory only as they are filled: an announced length alone costs nothing."""
    if size <= OWN_BUFFER_KEPT_MIN:
        return memoryview(bytearray(size))
    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
