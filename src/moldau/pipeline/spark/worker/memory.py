"""Keeps the memory of one large batch for the next, and returns it to the system when nothing is left to read.

By itself the allocator returns it after every batch, and a third of the time goes into pages that the system has to
provide again. Of what is here, only glibc's allocator takes any of it.
"""

import ctypes
import functools
from typing import Final

LARGE_BATCH_BYTES: Final = 16 << 20
KEPT_BYTES: Final = 256 << 20
MAPPED_ALONE_BYTES: Final = 32 << 20
"""Only larger blocks are returned at once."""

M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3

_used_bytes = 0
"""Of the largest batch since memory was returned."""


@functools.cache
def keep_memory() -> None:
    option = getattr(_libc(), "mallopt", None)
    if option is not None:
        option(M_MMAP_THRESHOLD, MAPPED_ALONE_BYTES)
        option(M_TRIM_THRESHOLD, KEPT_BYTES)


def used_memory(batch_bytes: int) -> None:
    """To be told after each batch."""
    global _used_bytes
    _used_bytes = max(_used_bytes, batch_bytes)


def return_memory() -> None:
    global _used_bytes
    trim = getattr(_libc(), "malloc_trim", None)
    if trim is not None and _used_bytes >= LARGE_BATCH_BYTES:
        trim(0)
        _used_bytes = 0


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
