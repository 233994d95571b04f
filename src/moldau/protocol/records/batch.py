"""The header of a record batch (magic 2), and the few fields that a broker patches in place.

Owns the 61 bytes before the records. Never looks at the records: on the produce and fetch paths a batch is an
opaque slice.

The CRC-32C covers everything from the attributes to the end, so the leader can assign base offset and leader
epoch without changing it.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from crc32c import crc32c

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE: Final = 61
LOG_OVERHEAD: Final = 12
"""Base offset and length: the bytes that the length field does not count."""
MAGIC: Final = 2

BASE_OFFSET_AT: Final = 0
LENGTH_AT: Final = 8
LEADER_EPOCH_AT: Final = 12
MAGIC_AT: Final = 16
CRC_AT: Final = 17
ATTRIBUTES_AT: Final = 21
LAST_OFFSET_DELTA_AT: Final = 23
BASE_TIMESTAMP_AT: Final = 27
MAX_TIMESTAMP_AT: Final = 35
PRODUCER_ID_AT: Final = 43
PRODUCER_EPOCH_AT: Final = 51
BASE_SEQUENCE_AT: Final = 53
RECORD_COUNT_AT: Final = 57
RECORDS_AT: Final = HEADER_SIZE

COMPRESSION_MASK: Final = 0x07
LOG_APPEND_TIME_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40
"""KIP-534: the base timestamp holds the time after which this batch's tombstones and markers may be
removed."""

SEQUENCE_MAX: Final = 2**31 - 1

_INT64: Final = struct.Struct(">q")
_INT32: Final = struct.Struct(">i")
_INT16: Final = struct.Struct(">h")
_UINT32: Final = struct.Struct(">I")


class Compression(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class BatchHeader(NamedTuple):
    base_offset: int
    length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """The whole batch, including the header."""
        return self.length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record. After 2**31 - 1 numbers continue at 0."""
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) & SEQUENCE_MAX

    @property
    def compression(self) -> Compression:
        codec = self.attributes & COMPRESSION_MASK
        try:
            return Compression(codec)
        except ValueError:
            raise PeerError(
                f"record batch at offset {self.base_offset}: unknown compression codec {codec}"
            ) from None

    @property
    def is_log_append_time(self) -> bool:
        return self.attributes & LOG_APPEND_TIME_FLAG != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_FLAG != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_FLAG != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON_FLAG != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        return self.base_timestamp if self.has_delete_horizon else None


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`. Check `size` and the CRC before trusting the rest."""
    try:
        return BatchHeader._make(HEADER.unpack_from(buffer, position))
    except struct.error:
        raise PeerError(
            f"record batch header at position {position} needs {HEADER_SIZE} bytes, "
            f"{len(buffer) - position} are left"
        ) from None


def iter_headers(buffer: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each batch in a series of whole batches; anything else is a PeerError."""
    position, end = 0, len(buffer)
    while position < end:
        header = read_header(buffer, position)
        if header.magic != MAGIC:
            raise PeerError(
                f"record batch at position {position} has magic {header.magic}, only {MAGIC} is supported"
            )
        if header.length < HEADER_SIZE - LOG_OVERHEAD or header.size > end - position:
            raise PeerError(
                f"record batch at position {position} declares {header.size} bytes, {end - position} are left"
            )
        yield position, header
        position += header.size


def crc_matches(buffer: memoryview, position: int, size: int) -> bool:
    """Whether the CRC of the batch of `size` bytes at `position` is correct. Copies nothing."""
    (expected,) = _UINT32.unpack_from(buffer, position + CRC_AT)
    return bool(crc32c(buffer[position + ATTRIBUTES_AT : position + size]) == expected)


def assign_offset(buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int) -> None:
    """The fields a leader sets on append. The CRC does not cover them."""
    _INT64.pack_into(buffer, position, base_offset)
    _INT32.pack_into(buffer, position + LEADER_EPOCH_AT, leader_epoch)


def stamp_log_append_time(
    buffer: bytearray | memoryview, position: int, size: int, timestamp_ms: int
) -> None:
    """Sets the broker's time: readers use the max timestamp for every record of such a batch."""
    (attributes,) = _INT16.unpack_from(buffer, position + ATTRIBUTES_AT)
    _INT16.pack_into(buffer, position + ATTRIBUTES_AT, attributes | LOG_APPEND_TIME_FLAG)
    _INT64.pack_into(buffer, position + MAX_TIMESTAMP_AT, timestamp_ms)
    write_crc(buffer, position, size)


def write_crc(buffer: bytearray | memoryview, position: int, size: int) -> None:
    with memoryview(buffer) as view, view[position + ATTRIBUTES_AT : position + size] as covered:
        _UINT32.pack_into(view, position + CRC_AT, crc32c(covered))
