"""The records in a batch: varints, whole records, and a scan that reads keys only.

For tools, coordinators, recompression and compaction; not used on the produce and fetch paths. The caller
checks the CRC.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import MAGIC, RECORDS_AT, BatchHeader, Compression, read_header
from moldau.protocol.records.compression import decompress

Headers = tuple[tuple[str, bytes | None], ...]

RECORD_BYTES_MIN: Final = 7
"""Length, attributes, two deltas, two null byte strings, no headers: one byte each."""


class Record(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


RecordSpan = tuple[int, int, int, int, bytes | None, int, bool]
"""start, end, timestamp_delta, offset_delta, key, value_at, has_value: the position of a record in its
batch's uncompressed records, and the fields a filter needs. `value_at` is the position of the value's length;
value and headers follow. A plain tuple, because compaction makes one for each record of a log."""


def read_varint(data: Buffer, position: int) -> tuple[int, int]:
    """A zigzag varint of at most 64 bits, and the position after it."""
    raw = data[position]
    position += 1
    if raw > 0x7F:
        raw &= 0x7F
        shift = 7
        while True:
            byte = data[position]
            position += 1
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise PeerError("a varint has more than 10 bytes")
        if raw >> 64:
            raise PeerError("a varint has more than 64 bits")
    return (raw >> 1) ^ -(raw & 1), position


def write_varint(out: bytearray, value: int) -> None:
    raw = (value << 1) ^ (value >> 63)
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)


def uncompressed_records(batch: Buffer, header: BatchHeader, decompressed_bytes_max: int) -> Buffer:
    """The bytes after the header of `batch`, decompressed. Never more than `decompressed_bytes_max`."""
    if header.magic != MAGIC:
        raise PeerError(f"record batch has magic {header.magic}, only {MAGIC} is supported")
    if header.size != len(batch) or header.size < RECORDS_AT:
        raise PeerError(f"record batch declares {header.size} bytes, {len(batch)} are left")
    stored = memoryview(batch)[RECORDS_AT:]
    if header.compression is Compression.NONE:
        return stored
    if not header.record_count and not stored:
        return b""
    return decompress(header.compression, stored, decompressed_bytes_max)


def iter_records(batch: Buffer, *, decompressed_bytes_max: int) -> Iterator[Record]:
    """Every record of one whole batch. Any error is a PeerError."""
    header = read_header(batch)
    data = uncompressed_records(batch, header, decompressed_bytes_max)
    append_time = header.max_timestamp if header.is_log_append_time else None
    for _, end, timestamp_delta, offset_delta, key, value_at, _ in scan_records(data, header):
        value, headers = _value_and_headers(data, value_at, end)
        timestamp = header.base_timestamp + timestamp_delta if append_time is None else append_time
        yield Record(header.base_offset + offset_delta, timestamp, key, value, headers)


def every_record_has_key(batch: Buffer, *, decompressed_bytes_max: int) -> bool:
    header = read_header(batch)
    data = uncompressed_records(batch, header, decompressed_bytes_max)
    return all(key is not None for _, _, _, _, key, _, _ in scan_records(data, header))


def scan_records(data: Buffer, header: BatchHeader) -> Iterator[RecordSpan]:
    """Walks the uncompressed records of a batch. Copies keys, but neither values nor headers."""
    count, size = header.record_count, len(data)
    if count < 0 or count * RECORD_BYTES_MIN > size:
        raise PeerError(
            f"record batch at offset {header.base_offset} declares {count} records in {size} bytes"
        )
    offset_delta_max = header.last_offset_delta
    position, previous_delta, index = 0, -1, 0
    try:
        while index < count:
            span = _scan_record(data, position)
            _, position, _, offset_delta, _, _, _ = span
            if not previous_delta < offset_delta <= offset_delta_max:
                raise PeerError(f"has offset delta {offset_delta} after {previous_delta}")
            previous_delta = offset_delta
            index += 1
            yield span
    except IndexError:
        raise _malformed(header, index, "runs past the end of the batch") from None
    except PeerError as error:
        raise _malformed(header, index, str(error)) from None
    if position != size:
        raise PeerError(f"record batch at offset {header.base_offset} has {size - position} extra bytes")


def _scan_record(data: Buffer, start: int) -> RecordSpan:
    # The branch for one-byte varints is inlined: nearly all are, and a call costs more than the decoding.
    raw = data[start]
    size, at = ((raw >> 1) ^ -(raw & 1), start + 1) if raw < 0x80 else read_varint(data, start)
    end = at + size
    if size < RECORD_BYTES_MIN - 1 or end > len(data):
        raise PeerError(f"has a length of {size} bytes")
    at += 1
    raw = data[at]
    timestamp_delta, at = ((raw >> 1) ^ -(raw & 1), at + 1) if raw < 0x80 else read_varint(data, at)
    raw = data[at]
    offset_delta, at = ((raw >> 1) ^ -(raw & 1), at + 1) if raw < 0x80 else read_varint(data, at)
    raw = data[at]
    key_size, at = ((raw >> 1) ^ -(raw & 1), at + 1) if raw < 0x80 else read_varint(data, at)
    key = None
    if key_size >= 0:
        key = bytes(data[at : at + key_size])
        at += key_size
    value_at = at
    raw = data[at]
    value_size, at = ((raw >> 1) ^ -(raw & 1), at + 1) if raw < 0x80 else read_varint(data, at)
    if key_size < -1 or value_size < -1 or at + max(value_size, 0) >= end:
        raise PeerError(f"has a key of {key_size} and a value of {value_size} bytes in a length of {size}")
    return start, end, timestamp_delta, offset_delta, key, value_at, value_size >= 0


def _value_and_headers(data: Buffer, value_at: int, end: int) -> tuple[bytes | None, Headers]:
    try:
        value, position = _byte_string(data, value_at, end)
        count, position = read_varint(data, position)
        if not 0 <= count <= end - position:
            raise PeerError(f"a record declares {count} headers")
        headers: list[tuple[str, bytes | None]] = []
        for _ in range(count):
            name, position = _byte_string(data, position, end)
            if name is None:
                raise PeerError("a record header has no name")
            content, position = _byte_string(data, position, end)
            headers.append((name.decode(), content))
    except IndexError:
        raise PeerError("a record's headers run past the end of the batch") from None
    except UnicodeDecodeError:
        raise PeerError("a record header's name is not UTF-8") from None
    if position != end:
        raise PeerError(f"a record's content ends {end - position} bytes off its declared end")
    return value, tuple(headers)


def _byte_string(data: Buffer, position: int, end: int) -> tuple[bytes | None, int]:
    size, position = read_varint(data, position)
    if size == -1:
        return None, position
    if not 0 <= size <= end - position:
        raise PeerError(f"a record has a byte string of {size} bytes where {end - position} are left")
    return bytes(data[position : position + size]), position + size


def _malformed(header: BatchHeader, index: int, why: str) -> PeerError:
    return PeerError(f"record {index} of the batch at offset {header.base_offset} {why}")
