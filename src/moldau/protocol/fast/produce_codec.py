"""Produce (key 0), versions 3 to 13, decoded and encoded in as few steps as possible.

Must agree exactly with `messages/log/produce.py` and the general codec, which property tests check.
Records stay views of the frame.

    3-8   fixed-size lengths; 5 adds the log start offset, 8 record errors and a message (KIP-467)
    9-12  compact lengths and tagged fields (KIP-482)
    13    topic ids instead of names (KIP-516)
"""

import struct
from collections.abc import Sequence
from typing import Final

from moldau.core.errors import PeerError
from moldau.protocol.fast.fields import (
    TopicKey,
    bad_count,
    bad_size,
    read_compact_nullable_string,
    read_compact_string,
    read_string,
    skip_tags,
    write_compact_string,
    write_string,
    write_topic_key,
)
from moldau.protocol.varints import continue_unsigned_varint, write_unsigned_varint

PartitionRecords = tuple[int, memoryview | None]
ProduceTopics = list[tuple[TopicKey, list[PartitionRecords]]]
ProduceRequestView = tuple[str | None, int, int, ProduceTopics]
"""transactional_id, acks, timeout_ms, topics"""
RecordErrors = Sequence[tuple[int, str | None]]
PartitionProduced = tuple[int, int, int, int, int, RecordErrors | None, str | None]
"""partition, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message"""

_int16: Final = struct.Struct(">h")
_int32: Final = struct.Struct(">i")
_acks_timeout_count: Final = struct.Struct(">hii")
_acks_timeout_compact_count: Final = struct.Struct(">hiB")
_id_compact_count: Final = struct.Struct(">16sB")
_index_size: Final = struct.Struct(">ii")
_index_compact_size: Final = struct.Struct(">iB")

_produced_v3: Final = struct.Struct(">ihqq")
_produced_v5: Final = struct.Struct(">ihqqq")
_throttle_tags: Final = struct.Struct(">iB")


def decode_produce(frame: memoryview, position: int, version: int) -> ProduceRequestView:
    """The request whose body goes from `position` to the end. Malformed input is a PeerError."""
    try:
        if version >= 9:
            return _decode_flexible(frame, position, version >= 13)
        return _decode_classic(frame, position)
    except (IndexError, struct.error):
        raise PeerError(f"Produce request v{version} ends in the middle of a field") from None
    except UnicodeDecodeError as error:
        raise PeerError(
            f"Produce request v{version} has a string that is not UTF-8: {error.reason}"
        ) from None
    except PeerError as error:
        raise PeerError(f"Produce request v{version}: {error}") from None


def _decode_flexible(frame: memoryview, p: int, by_id: bool) -> ProduceRequestView:
    end = len(frame)
    if frame[p]:
        transactional_id, p = read_compact_nullable_string(frame, p, end)
    else:
        transactional_id, p = None, p + 1
    acks, timeout_ms, topic_count = _acks_timeout_compact_count.unpack_from(frame, p)
    p += 7
    if topic_count > 0x7F:
        topic_count, p = continue_unsigned_varint(frame, p, topic_count)
    if not topic_count or (topic_count - 1) * (18 if by_id else 3) > end - p:
        raise bad_count("topics", topic_count - 1, end - p)
    topics: list[tuple[TopicKey, list[PartitionRecords]]] = []
    for _ in range(topic_count - 1):
        key: TopicKey
        if by_id:
            key, count = _id_compact_count.unpack_from(frame, p)
            p += 17
        else:
            key, p = read_compact_string(frame, p, end)
            count = frame[p]
            p += 1
        if count > 0x7F:
            count, p = continue_unsigned_varint(frame, p, count)
        partitions, p = _partitions_flexible(frame, p, count - 1, end)
        topics.append((key, partitions))
        tags = frame[p]
        p = skip_tags(frame, p + 1, tags, end) if tags else p + 1
    tags = frame[p]
    if tags:
        skip_tags(frame, p + 1, tags, end)
    return transactional_id, acks, timeout_ms, topics


def _partitions_flexible(
    frame: memoryview, p: int, count: int, end: int
) -> tuple[list[PartitionRecords], int]:
    if not 0 <= count * 6 <= end - p:
        raise bad_count("partitions", count, end - p)
    partitions: list[PartitionRecords] = []
    for _ in range(count):
        index, size = _index_compact_size.unpack_from(frame, p)
        p += 5
        if size:
            if size > 0x7F:
                size, p = continue_unsigned_varint(frame, p, size)
            stop = p + size - 1
            if stop > end:
                raise bad_size("records", size - 1, end - p)
            partitions.append((index, frame[p:stop]))
            p = stop
        else:
            partitions.append((index, None))
        tags = frame[p]
        p = skip_tags(frame, p + 1, tags, end) if tags else p + 1
    return partitions, p


def _decode_classic(frame: memoryview, p: int) -> ProduceRequestView:
    end = len(frame)
    (size,) = _int16.unpack_from(frame, p)
    p += 2
    transactional_id = None
    if size >= 0:
        transactional_id, p = read_string(frame, p, size, end)
    acks, timeout_ms, topic_count = _acks_timeout_count.unpack_from(frame, p)
    p += 10
    if not 0 <= topic_count * 6 <= end - p:
        raise bad_count("topics", topic_count, end - p)
    topics: list[tuple[TopicKey, list[PartitionRecords]]] = []
    for _ in range(topic_count):
        (size,) = _int16.unpack_from(frame, p)
        key, p = read_string(frame, p + 2, size, end)
        (count,) = _int32.unpack_from(frame, p)
        partitions, p = _partitions_classic(frame, p + 4, count, end)
        topics.append((key, partitions))
    return transactional_id, acks, timeout_ms, topics


def _partitions_classic(
    frame: memoryview, p: int, count: int, end: int
) -> tuple[list[PartitionRecords], int]:
    if not 0 <= count * 8 <= end - p:
        raise bad_count("partitions", count, end - p)
    partitions: list[PartitionRecords] = []
    for _ in range(count):
        index, size = _index_size.unpack_from(frame, p)
        p += 8
        if size >= 0:
            stop = p + size
            if stop > end:
                raise bad_size("records", size, end - p)
            partitions.append((index, frame[p:stop]))
            p = stop
        else:
            partitions.append((index, None))
    return partitions, p


def encode_produce_response(
    version: int, throttle_ms: int, topics: Sequence[tuple[TopicKey, Sequence[PartitionProduced]]]
) -> bytearray:
    """The body only. Leader hints (KIP-951) are left out: answers that have any use the general codec."""
    if version >= 9:
        return _encode_flexible(throttle_ms, topics)
    return _encode_classic(version, throttle_ms, topics)


def _encode_flexible(
    throttle_ms: int, topics: Sequence[tuple[TopicKey, Sequence[PartitionProduced]]]
) -> bytearray:
    out = bytearray()
    write_unsigned_varint(out, len(topics) + 1)
    for key, partitions in topics:
        write_topic_key(out, key)
        write_unsigned_varint(out, len(partitions) + 1)
        for index, error, base_offset, append_time, log_start, record_errors, message in partitions:
            out += _produced_v5.pack(index, error, base_offset, append_time, log_start)
            if not record_errors and message is None:
                out += b"\x01\x00\x00"  # No record errors, no message, no tagged fields.
            else:
                _write_failure_flexible(out, record_errors or (), message)
        out.append(0)
    out += _throttle_tags.pack(throttle_ms, 0)
    return out


def _write_failure_flexible(out: bytearray, record_errors: RecordErrors, message: str | None) -> None:
    write_unsigned_varint(out, len(record_errors) + 1)
    for record_index, record_message in record_errors:
        out += _int32.pack(record_index)
        write_compact_string(out, record_message)
        out.append(0)
    write_compact_string(out, message)
    out.append(0)


def _encode_classic(
    version: int, throttle_ms: int, topics: Sequence[tuple[TopicKey, Sequence[PartitionProduced]]]
) -> bytearray:
    out = bytearray(_int32.pack(len(topics)))
    for key, partitions in topics:
        assert isinstance(key, str)
        write_string(out, key)
        out += _int32.pack(len(partitions))
        for index, error, base_offset, append_time, log_start, record_errors, message in partitions:
            if version < 5:
                out += _produced_v3.pack(index, error, base_offset, append_time)
                continue
            out += _produced_v5.pack(index, error, base_offset, append_time, log_start)
            if version == 8:
                _write_failure_classic(out, record_errors or (), message)
    out += _int32.pack(throttle_ms)
    return out


def _write_failure_classic(out: bytearray, record_errors: RecordErrors, message: str | None) -> None:
    out += _int32.pack(len(record_errors))
    for record_index, record_message in record_errors:
        out += _int32.pack(record_index)
        write_string(out, record_message)
    write_string(out, message)
