"""Builds record batches: from records, from the kept records of another batch, or with another codec.

The leader assigns offset and epoch later with `batch.assign_offset`.
"""

from collections.abc import Sequence
from typing import Final

from moldau.core.ids import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import (
    COMPRESSION_MASK,
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD,
    MAGIC,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    Compression,
    read_header,
    write_crc,
)
from moldau.protocol.records.compression import compress
from moldau.protocol.records.record import Record, uncompressed_records, write_varint

_ABSENT: Final = 1
"""-1 as a zigzag varint."""


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    last_offset: int | None = None,
    compression: Compression = Compression.NONE,
    level: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    log_append_time_ms: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """One batch of `records`, whose offsets are absolute and ascending and may have gaps.

    `last_offset`: the last offset of the batch if that is after its last record, as compaction leaves it.
    `log_append_time_ms` sets the timestamp type to log append time.
    """
    if last_offset is None:
        last_offset = records[-1].offset if records else base_offset
    base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
    max_timestamp = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    attributes = (
        (TRANSACTIONAL_FLAG if is_transactional else 0)
        | (CONTROL_FLAG if is_control else 0)
        | (LOG_APPEND_TIME_FLAG if log_append_time_ms is not None else 0)
        | (DELETE_HORIZON_FLAG if delete_horizon_ms is not None else 0)
    )
    data = bytearray()
    for record in records:
        write_record(data, record, base_offset, base_timestamp)
    header = BatchHeader(
        base_offset=base_offset,
        length=0,
        partition_leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=last_offset - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp if log_append_time_ms is None else log_append_time_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return seal_batch(header, data, compression if records else Compression.NONE, level)


def seal_batch(
    header: BatchHeader, records: Buffer, compression: Compression, level: int | None = None
) -> bytearray:
    """Uncompressed `records` after `header`, with length, codec and CRC set."""
    stored = compress(compression, records, level)
    batch = bytearray(HEADER_SIZE)
    batch += stored
    attributes = header.attributes & ~COMPRESSION_MASK | compression
    HEADER.pack_into(batch, 0, *header._replace(length=len(batch) - LOG_OVERHEAD, attributes=attributes))
    write_crc(batch, 0, len(batch))
    return batch


def recompress(
    batch: Buffer, compression: Compression, level: int | None = None, *, decompressed_bytes_max: int
) -> bytearray:
    """The same batch with another codec; records and other header fields stay the same."""
    header = read_header(batch)
    return seal_batch(header, uncompressed_records(batch, header, decompressed_bytes_max), compression, level)


def write_record(out: bytearray, record: Record, base_offset: int, base_timestamp: int) -> None:
    body = bytearray(1)  # Attributes: none is defined.
    write_varint(body, record.timestamp - base_timestamp)
    write_varint(body, record.offset - base_offset)
    _write_byte_string(body, record.key)
    _write_byte_string(body, record.value)
    write_varint(body, len(record.headers))
    for name, content in record.headers:
        _write_byte_string(body, name.encode())
        _write_byte_string(body, content)
    write_varint(out, len(body))
    out += body


def _write_byte_string(out: bytearray, content: bytes | None) -> None:
    if content is None:
        out.append(_ABSENT)
    else:
        write_varint(out, len(content))
        out += content
