"""Iterates over the record batches of a segment file: headers alone, or whole batches with their CRC checked.

Reads in slices. Allocates no more than a slice or one batch, whatever a damaged length field says.
"""

from collections.abc import Iterator
from typing import Final

from crc32c import crc32c

from moldau.core.ports import File
from moldau.protocol.records.batch import (
    ATTRIBUTES_AT,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
)

SEARCH_SLICE_BYTES: Final = 8 << 10
"""A little more than the usual distance between two index entries."""
SCAN_SLICE_BYTES: Final = 1 << 20

LENGTH_MIN: Final = HEADER_SIZE - LOG_OVERHEAD


def iter_headers(
    file: File, position: int, end: int, slice_bytes: int = SEARCH_SLICE_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """Yields the position and header of each batch from `position`, which must be the start of a batch. Ends at the
    first bytes that cannot be a whole batch."""
    data, start = b"", position
    while position + HEADER_SIZE <= end:
        if position - start + HEADER_SIZE > len(data):
            start = position
            data = file.read(position, min(slice_bytes, end - position))
            if len(data) < HEADER_SIZE:
                return
        header = BatchHeader._make(HEADER.unpack_from(data, position - start))
        if header.length < LENGTH_MIN or header.magic != MAGIC or position + header.size > end:
            return
        yield position, header
        position += header.size


def iter_batches(file: File, position: int, end: int) -> Iterator[tuple[int, BatchHeader, memoryview]]:
    """Yields the position, header and bytes of each batch. Ends at the first batch that is torn or damaged. A batch
    longer than a slice is yielded cut to the slice; its CRC is still computed over all of it."""
    view, start = memoryview(b""), position
    while position + HEADER_SIZE <= end:
        at = position - start
        if at + HEADER_SIZE > len(view):
            view, start, at = (
                memoryview(file.read(position, min(SCAN_SLICE_BYTES, end - position))),
                position,
                0,
            )
            if len(view) < HEADER_SIZE:
                return
        header = BatchHeader._make(HEADER.unpack_from(view, at))
        if header.length < LENGTH_MIN or header.magic != MAGIC or position + header.size > end:
            return
        if at + header.size > len(view) and at > 0:
            view, start, at = (
                memoryview(file.read(position, min(SCAN_SLICE_BYTES, end - position))),
                position,
                0,
            )
        batch = view[at : at + header.size]
        crc = crc32c(batch[ATTRIBUTES_AT:])
        for rest in range(position + len(batch), position + header.size, SCAN_SLICE_BYTES):
            crc = crc32c(file.read(rest, min(SCAN_SLICE_BYTES, position + header.size - rest)), crc)
        if crc != header.crc:
            return
        yield position, header, batch
        position += header.size


def iter_whole_batches(file: File, position: int, end: int) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Like `iter_batches`, but with all the bytes of long batches."""
    for at, header, batch in iter_batches(file, position, end):
        yield header, batch if len(batch) == header.size else memoryview(file.read(at, header.size))
