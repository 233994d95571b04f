"""Fetch (key 1), versions 4 to 18, decoded and encoded in as few steps as possible.

Must agree exactly with `messages/log/fetch.py` and the general codec, which property tests check. Answers carry
file slices as they are, so that the socket can send them without reading them.

    4-6    fixed-size lengths; 5 adds the log start offset
    7-11   sessions (KIP-227); 9 adds the leader epoch (KIP-320), 11 rack and preferred replica (KIP-392)
    12     compact lengths and tagged fields (KIP-482), last fetched epoch (KIP-595)
    13-14  topic ids instead of names (KIP-516)
    15-18  the replica's id moves to a tagged field (KIP-903); tagged fields of KRaft voters (KIP-853, KIP-1166)
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moldau.core.chunks import Chunk, FileSlice
from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.fast.fields import (
    TopicKey,
    bad_count,
    bad_size,
    read_compact_nullable_string,
    read_compact_string,
    read_string,
    skip_tags,
    write_string,
    write_topic_key,
)
from moldau.protocol.varints import continue_unsigned_varint, read_unsigned_varint, write_unsigned_varint

PartitionWanted = tuple[int, int, int, int, int, int]
"""partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_bytes_max"""
FetchTopics = list[tuple[TopicKey, list[PartitionWanted]]]
ForgottenTopics = list[tuple[TopicKey, list[int]]]


@dataclass(slots=True)
class FetchRequestView:
    """The fields of a Fetch request that a broker uses. Not a NamedTuple, which takes twice as long to build."""

    replica_id: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: FetchTopics
    forgotten: ForgottenTopics
    rack_id: str
    replica_epoch: int


Records = FileSlice | Buffer | None
PartitionFetched = tuple[int, int, int, int, int, Sequence[tuple[int, int]] | None, int, Records]
"""partition, error_code, high_watermark, last_stable_offset, log_start_offset, aborted,
preferred_read_replica, records"""

TOPIC_IDS_FROM: Final = 13
"""The first version that names topics by id only."""
_COPY_BYTES_MAX: Final = 2048
"""Records in memory up to this size are copied into the answer: cheaper than sending one more buffer."""

_int16: Final = struct.Struct(">h")
_int32: Final = struct.Struct(">i")
_head_v4: Final = struct.Struct(">iiiibi")
_head_v7: Final = struct.Struct(">iiiibiii")
_head_v12: Final = struct.Struct(">iiiibiiB")
_head_v15: Final = struct.Struct(">iiibiiB")
_partition_v4: Final = struct.Struct(">iqi")
_partition_v5: Final = struct.Struct(">iqqi")
_partition_v9: Final = struct.Struct(">iiqqi")
_partition_v12: Final = struct.Struct(">iiqiqi")
_partition_v12_untagged: Final = struct.Struct(">iiqiqix")
_id_compact_count: Final = struct.Struct(">16sB")
_replica_state: Final = struct.Struct(">iqB")
_CLUSTER_ID_TAG: Final = 0
_REPLICA_STATE_TAG: Final = 1

_answer_v7: Final = struct.Struct(">ihi")
_fetched_v4: Final = struct.Struct(">ihqq")
_fetched_v5: Final = struct.Struct(">ihqqq")
_nothing_v11: Final = struct.Struct(">ihqqqiii")
_fetched_v12: Final = struct.Struct(">ihqqqBi")
_aborted: Final = struct.Struct(">qq")
_aborted_tags: Final = struct.Struct(">qqB")


def decode_fetch(frame: memoryview, position: int, version: int) -> FetchRequestView:
    """The request whose body goes from `position` to the end. Malformed input is a PeerError."""
    try:
        if version >= 12:
            return _decode_flexible(frame, position, version)
        return _decode_classic(frame, position, version)
    except (IndexError, struct.error):
        raise PeerError(f"Fetch request v{version} ends in the middle of a field") from None
    except UnicodeDecodeError as error:
        raise PeerError(f"Fetch request v{version} has a string that is not UTF-8: {error.reason}") from None
    except PeerError as error:
        raise PeerError(f"Fetch request v{version}: {error}") from None


def _decode_flexible(frame: memoryview, p: int, version: int) -> FetchRequestView:
    end = len(frame)
    by_id = version >= TOPIC_IDS_FROM
    replica_id = replica_epoch = -1
    if version >= 15:
        wait, low, high, isolation, session, epoch, count = _head_v15.unpack_from(frame, p)
        p += 22
    else:
        replica_id, wait, low, high, isolation, session, epoch, count = _head_v12.unpack_from(frame, p)
        p += 26
    if count > 0x7F:
        count, p = continue_unsigned_varint(frame, p, count)
    if not 0 <= (count - 1) * (18 if by_id else 3) <= end - p:
        raise bad_count("topics", count - 1, end - p)
    topics: FetchTopics = []
    for _ in range(count - 1):
        key, count, p = _topic_key_and_count(frame, p, end, by_id)
        partitions, p = _partitions_flexible(frame, p, count, end)
        topics.append((key, partitions))
        tags = frame[p]
        p = skip_tags(frame, p + 1, tags, end) if tags else p + 1
    count = frame[p]
    p += 1
    forgotten: ForgottenTopics = []
    if count != 1:
        forgotten, p = _forgotten_flexible(frame, p, count, end, by_id)
    if frame[p] == 1:
        rack_id, p = "", p + 1
    else:
        rack_id, p = read_compact_string(frame, p, end)
    if frame[p]:
        replica_id, replica_epoch = _replica(frame, p, end, version, replica_id)
    return FetchRequestView(
        replica_id, wait, low, high, isolation, session, epoch, topics, forgotten, rack_id, replica_epoch
    )


def _topic_key_and_count(frame: memoryview, p: int, end: int, by_id: bool) -> tuple[TopicKey, int, int]:
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
    return key, count - 1, p


def _partitions_flexible(
    frame: memoryview, p: int, count: int, end: int
) -> tuple[list[PartitionWanted], int]:
    stop = p + 33 * count
    if not p <= stop <= end:
        raise bad_count("partitions", count, end - p)
    # No tagged fields, which is the usual case: all partitions in one go.
    if not any(frame[p + 32 : stop : 33]):
        return list(_partition_v12_untagged.iter_unpack(frame[p:stop])), stop
    partitions: list[PartitionWanted] = []
    for _ in range(count):
        partitions.append(_partition_v12.unpack_from(frame, p))
        tags = frame[p + 32]
        p = skip_tags(frame, p + 33, tags, end) if tags else p + 33
    return partitions, p


def _forgotten_flexible(
    frame: memoryview, p: int, count: int, end: int, by_id: bool
) -> tuple[ForgottenTopics, int]:
    if count > 0x7F:
        count, p = continue_unsigned_varint(frame, p, count)
    if not 0 <= (count - 1) * (18 if by_id else 3) <= end - p:
        raise bad_count("forgotten topics", count - 1, end - p)
    forgotten: ForgottenTopics = []
    for _ in range(count - 1):
        key, partition_count, p = _topic_key_and_count(frame, p, end, by_id)
        partitions, p = _int32_array(frame, p, partition_count, end)
        forgotten.append((key, partitions))
        tags = frame[p]
        p = skip_tags(frame, p + 1, tags, end) if tags else p + 1
    return forgotten, p


def _replica(frame: memoryview, p: int, end: int, version: int, replica_id: int) -> tuple[int, int]:
    """Reads the request's own tagged fields, which start at `p`: the replica's id and epoch."""
    count, p = read_unsigned_varint(frame, p)
    if count * 2 > end - p:
        raise bad_count("tagged fields", count, end - p)
    replica_epoch = -1
    for _ in range(count):
        tag, p = read_unsigned_varint(frame, p)
        size, p = read_unsigned_varint(frame, p)
        stop = p + size
        if stop > end:
            raise bad_size("a tagged field", size, end - p)
        if tag == _REPLICA_STATE_TAG and version >= 15:
            replica_id, replica_epoch, tags = _replica_state.unpack_from(frame, p)
            p = skip_tags(frame, p + 13, tags, end) if tags else p + 13
        elif tag == _CLUSTER_ID_TAG:
            _, p = read_compact_nullable_string(frame, p, end)
        else:
            p = stop
        if p != stop:
            raise PeerError(f"tagged field {tag} is {abs(stop - p)} bytes off its declared size")
    return replica_id, replica_epoch


def _decode_classic(frame: memoryview, p: int, version: int) -> FetchRequestView:
    end = len(frame)
    session, epoch = 0, -1
    if version >= 7:
        replica_id, wait, low, high, isolation, session, epoch, count = _head_v7.unpack_from(frame, p)
        p += 29
    else:
        replica_id, wait, low, high, isolation, count = _head_v4.unpack_from(frame, p)
        p += 21
    if not 0 <= count * 6 <= end - p:
        raise bad_count("topics", count, end - p)
    topics: FetchTopics = []
    for _ in range(count):
        (size,) = _int16.unpack_from(frame, p)
        key, p = read_string(frame, p + 2, size, end)
        (partition_count,) = _int32.unpack_from(frame, p)
        partitions, p = _partitions_classic(frame, p + 4, partition_count, end, version)
        topics.append((key, partitions))
    forgotten: ForgottenTopics = []
    rack_id = ""
    if version >= 7:
        (count,) = _int32.unpack_from(frame, p)
        p += 4
        if count:
            forgotten, p = _forgotten_classic(frame, p, count, end)
    if version >= 11:
        (size,) = _int16.unpack_from(frame, p)
        rack_id, p = read_string(frame, p + 2, size, end)
    return FetchRequestView(
        replica_id, wait, low, high, isolation, session, epoch, topics, forgotten, rack_id, -1
    )


def _partitions_classic(
    frame: memoryview, p: int, count: int, end: int, version: int
) -> tuple[list[PartitionWanted], int]:
    layout = _partition_v9 if version >= 9 else _partition_v5 if version >= 5 else _partition_v4
    stop = p + layout.size * count
    if not p <= stop <= end:
        raise bad_count("partitions", count, end - p)
    fields = layout.iter_unpack(frame[p:stop])
    if version >= 9:
        return [(i, epoch, offset, -1, start, size) for i, epoch, offset, start, size in fields], stop
    if version >= 5:
        return [(i, -1, offset, -1, start, size) for i, offset, start, size in fields], stop
    return [(i, -1, offset, -1, -1, size) for i, offset, size in fields], stop


def _forgotten_classic(frame: memoryview, p: int, count: int, end: int) -> tuple[ForgottenTopics, int]:
    if not 0 <= count * 6 <= end - p:
        raise bad_count("forgotten topics", count, end - p)
    forgotten: ForgottenTopics = []
    for _ in range(count):
        (size,) = _int16.unpack_from(frame, p)
        key, p = read_string(frame, p + 2, size, end)
        (partition_count,) = _int32.unpack_from(frame, p)
        partitions, p = _int32_array(frame, p + 4, partition_count, end)
        forgotten.append((key, partitions))
    return forgotten, p


def _int32_array(frame: memoryview, p: int, count: int, end: int) -> tuple[list[int], int]:
    stop = p + 4 * count
    if not p <= stop <= end:
        raise bad_count("partitions", count, end - p)
    return list(struct.unpack_from(f">{count}i", frame, p)), stop


def encode_fetch_response(
    version: int,
    throttle_ms: int,
    error_code: int,
    session_id: int,
    topics: Sequence[tuple[TopicKey, Sequence[PartitionFetched]]],
) -> tuple[list[Chunk], int]:
    """The body and its size. Tagged fields are left out: the general codec writes them."""
    if version >= 12:
        return _encode_flexible(throttle_ms, error_code, session_id, topics)
    return _encode_classic(version, throttle_ms, error_code, session_id, topics)


def _encode_flexible(
    throttle_ms: int,
    error_code: int,
    session_id: int,
    topics: Sequence[tuple[TopicKey, Sequence[PartitionFetched]]],
) -> tuple[list[Chunk], int]:
    out = bytearray(_answer_v7.pack(throttle_ms, error_code, session_id))
    chunks: list[Chunk] = []
    total = 0
    write_unsigned_varint(out, len(topics) + 1)
    for key, partitions in topics:
        write_topic_key(out, key)
        write_unsigned_varint(out, len(partitions) + 1)
        for index, error, high_watermark, stable, start, aborted, preferred, records in partitions:
            if aborted:
                out += _fetched_v5.pack(index, error, high_watermark, stable, start)
                _write_aborted_flexible(out, aborted)
                out += _int32.pack(preferred)
            else:
                none = 0 if aborted is None else 1
                out += _fetched_v12.pack(index, error, high_watermark, stable, start, none, preferred)
            if records is None:
                out.append(0)
            elif type(records) is FileSlice and records.size:
                write_unsigned_varint(out, records.size + 1)
                total += len(out) + records.size
                chunks += (out, records)
                out = bytearray()
            else:
                size = _size(records)
                write_unsigned_varint(out, size + 1)
                before, out = out, _put_records(records, out, chunks)
                if out is not before:
                    total += len(before) + size
            out.append(0)
        out.append(0)
    out.append(0)
    chunks.append(out)
    return chunks, total + len(out)


def _size(chunk: Chunk) -> int:
    return chunk.size if isinstance(chunk, FileSlice) else len(chunk)


def _put_records(records: Chunk, out: bytearray, chunks: list[Chunk]) -> bytearray:
    """Appends records after what is in `out`. Returns the buffer in which the answer continues."""
    if isinstance(records, FileSlice):
        if not records.size:
            return out
    elif len(records) <= _COPY_BYTES_MAX:
        out += records
        return out
    chunks += (out, records)
    return bytearray()


def _write_aborted_flexible(out: bytearray, aborted: Sequence[tuple[int, int]]) -> None:
    write_unsigned_varint(out, len(aborted) + 1)
    for producer_id, first_offset in aborted:
        out += _aborted_tags.pack(producer_id, first_offset, 0)


def _encode_classic(
    version: int,
    throttle_ms: int,
    error_code: int,
    session_id: int,
    topics: Sequence[tuple[TopicKey, Sequence[PartitionFetched]]],
) -> tuple[list[Chunk], int]:
    chunks: list[Chunk] = []
    if version >= 7:
        out = bytearray(_answer_v7.pack(throttle_ms, error_code, session_id))
    else:
        out = bytearray(_int32.pack(throttle_ms))
    out += _int32.pack(len(topics))
    for key, partitions in topics:
        assert isinstance(key, str)
        write_string(out, key)
        out += _int32.pack(len(partitions))
        for index, error, high_watermark, stable, start, aborted, preferred, records in partitions:
            if records == b"" and not aborted and version >= 11:
                # Nothing new: the usual case for a client with very many partitions.
                none = -1 if aborted is None else 0
                out += _nothing_v11.pack(index, error, high_watermark, stable, start, none, preferred, 0)
                continue
            if version >= 5:
                out += _fetched_v5.pack(index, error, high_watermark, stable, start)
            else:
                out += _fetched_v4.pack(index, error, high_watermark, stable)
            _write_aborted_classic(out, aborted)
            if version >= 11:
                out += _int32.pack(preferred)
            if records is None:
                out += _int32.pack(-1)
            else:
                out += _int32.pack(_size(records))
                out = _put_records(records, out, chunks)
    if out:
        chunks.append(out)
    return chunks, sum(map(_size, chunks))


def _write_aborted_classic(out: bytearray, aborted: Sequence[tuple[int, int]] | None) -> None:
    out += _int32.pack(-1 if aborted is None else len(aborted))
    for transaction in aborted or ():
        out += _aborted.pack(*transaction)
