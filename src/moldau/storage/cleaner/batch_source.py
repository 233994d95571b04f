"""The batches of a segment file, whole and checked, in large reads.

A recovery scan ends at the first damaged batch. This one raises an error there: the cleaner must not rewrite what it
cannot read.
"""

from collections.abc import Callable, Iterator

from moldau.core.errors import MoldauError
from moldau.core.ports import File
from moldau.protocol.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    crc_matches,
    read_header,
)


class UncleanableLog(MoldauError):
    """A log that cannot be cleaned. The message says where it is damaged."""


def iter_whole_batches(
    file: File, size: int, first_offset: int, slice_bytes: int, on_read: Callable[[int], None]
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yields every batch in the first `size` bytes. Calls `on_read` after each read, before it yields the batches."""
    position = 0
    next_offset = first_offset
    view, start = memoryview(b""), 0
    while position < size:
        at = position - start
        needed = HEADER_SIZE
        if len(view) - at >= HEADER_SIZE:
            needed = _batch_size(file, view, at, position, size)
        if len(view) - at < needed:
            view, start = (
                memoryview(file.read(position, min(max(slice_bytes, needed), size - position))),
                position,
            )
            on_read(len(view))
            if len(view) < needed:
                raise _damaged(file, position, f"{needed} bytes are missing at the end")
            continue
        if not crc_matches(view, at, needed):
            raise _damaged(file, position, "its CRC does not match its content")
        header = read_header(view, at)
        if header.base_offset < next_offset or header.last_offset_delta < 0:  # not covered by the CRC
            raise _damaged(
                file, position, f"it has offset {header.base_offset}, expected {next_offset} or later"
            )
        next_offset = header.next_offset
        yield header, view[at : at + needed]
        position += needed


def _batch_size(file: File, view: memoryview, at: int, position: int, size: int) -> int:
    header = read_header(view, at)
    if header.magic != MAGIC:
        raise _damaged(file, position, f"it has magic {header.magic}, expected {MAGIC}")
    if header.length < HEADER_SIZE - LOG_OVERHEAD or header.size > size - position:
        raise _damaged(
            file, position, f"its length says {header.size} bytes, but only {size - position} are left"
        )
    return header.size


def _damaged(file: File, position: int, why: str) -> UncleanableLog:
    return UncleanableLog(f"the batch at position {position} of {file.path} is damaged: {why}")
