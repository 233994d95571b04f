"""The header view against batches written by kafka-python, and the in-place patches."""

import warnings

import pytest

from moldau.core.errors import PeerError
from moldau.protocol.records.batch import (
    HEADER,
    HEADER_SIZE,
    BatchHeader,
    Compression,
    assign_offset,
    crc_matches,
    iter_headers,
    read_header,
    stamp_log_append_time,
    write_crc,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its schemas through a deprecated call
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder


def foreign_batch(count: int = 3, *, codec: int = 0, transactional: bool = False) -> bytearray:
    builder = DefaultRecordBatchBuilder(2, codec, transactional, 71, 4, 9, 1 << 20)
    for i in range(count):
        builder.append(i, timestamp=1_000 + i, key=b"k%d" % i, value=b"v" * 20, headers=[])
    return bytearray(builder.build())


def header(**changes: int) -> BatchHeader:
    return read_header(foreign_batch())._replace(**changes)


def test_header_size_is_the_struct_size() -> None:
    assert HEADER.size == HEADER_SIZE


def test_reads_what_another_client_wrote() -> None:
    batch = foreign_batch(3, codec=1, transactional=True)
    seen = read_header(batch)
    assert (seen.size, seen.magic, seen.record_count) == (len(batch), 2, 3)
    assert (seen.producer_id, seen.producer_epoch, seen.base_sequence, seen.last_sequence) == (71, 4, 9, 11)
    assert (seen.base_timestamp, seen.max_timestamp) == (1_000, 1_002)
    assert (seen.last_offset, seen.next_offset) == (2, 3)
    assert seen.compression is Compression.GZIP
    assert seen.is_transactional
    assert not (seen.is_control or seen.is_log_append_time or seen.has_delete_horizon)


def test_reads_at_a_position() -> None:
    assert read_header(b"....." + foreign_batch(), 5) == read_header(foreign_batch())


def test_sequence_goes_on_from_zero_after_its_maximum() -> None:
    assert header(base_sequence=2**31 - 2, last_offset_delta=1).last_sequence == 2**31 - 1
    assert header(base_sequence=2**31 - 2, last_offset_delta=2).last_sequence == 0
    assert header(base_sequence=-1, last_offset_delta=5).last_sequence == -1


def test_unknown_codec_is_the_peers_fault() -> None:
    with pytest.raises(PeerError, match="codec 6"):
        _ = header(attributes=6).compression


def test_crc_notices_one_flipped_bit_past_the_crc_field() -> None:
    batch = foreign_batch()
    assert crc_matches(memoryview(batch), 0, len(batch))
    for at in (21, 40, len(batch) - 1):
        batch[at] ^= 1
        assert not crc_matches(memoryview(batch), 0, len(batch))
        batch[at] ^= 1


def test_assigned_offset_and_epoch_leave_the_crc_alone() -> None:
    batch = bytearray(b"xxx") + foreign_batch()
    assign_offset(batch, 3, 10_000_000_000, 7)
    seen = read_header(batch, 3)
    assert (seen.base_offset, seen.last_offset, seen.partition_leader_epoch) == (
        10_000_000_000,
        10_000_000_002,
        7,
    )
    assert crc_matches(memoryview(batch), 3, seen.size)


def test_log_append_time_is_seen_by_another_client() -> None:
    batch = bytearray(b"xxx") + foreign_batch()
    stamp_log_append_time(batch, 3, len(batch) - 3, 123_456)
    reader = DefaultRecordBatch(bytes(batch[3:]))
    assert reader.validate_crc()
    assert [(record.timestamp, record.timestamp_type) for record in reader] == [(123_456, 1)] * 3


def test_write_crc_leaves_the_buffer_resizable() -> None:
    batch = foreign_batch()
    batch[30] ^= 1
    write_crc(batch, 0, len(batch))
    assert crc_matches(memoryview(batch), 0, len(batch))
    batch.extend(b"more")


def test_walks_a_run_of_batches() -> None:
    first, second = foreign_batch(1), foreign_batch(4)
    assert [(at, seen.record_count) for at, seen in iter_headers(first + second)] == [(0, 1), (len(first), 4)]


@pytest.mark.parametrize("cut", [1, 12, 60, 61, 80])
def test_a_cut_batch_is_the_peers_fault(cut: int) -> None:
    with pytest.raises(PeerError):
        list(iter_headers(foreign_batch()[:cut]))


def test_an_old_magic_or_a_wrong_length_is_the_peers_fault() -> None:
    batch = foreign_batch()
    batch[16] = 1
    with pytest.raises(PeerError, match="magic 1"):
        list(iter_headers(batch))
    for length in (-1, 0, 48, 1 << 30):
        batch = foreign_batch()
        batch[8:12] = length.to_bytes(4, "big", signed=True)
        with pytest.raises(PeerError, match="bytes"):
            list(iter_headers(batch))
