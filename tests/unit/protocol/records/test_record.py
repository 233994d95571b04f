"""Records one by one: sparse batches, empty ones, markers, and what a broken one says."""

import pytest

from moldau.core.errors import PeerError
from moldau.protocol.records.batch import Compression, read_header
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.control import (
    ControlType,
    EndTransactionMarker,
    build_end_transaction_marker,
    read_end_transaction_marker,
)
from moldau.protocol.records.record import Record, iter_records

RECORDS = [Record(3, 1_000, b"a", b"1"), Record(9, 1_005, None, None, (("h", None), ("i", b"x")))]


def test_gaps_and_a_tail_gap_survive() -> None:
    batch = build_batch(RECORDS, base_offset=1, last_offset=20)
    assert (read_header(batch).base_offset, read_header(batch).last_offset) == (1, 20)
    assert list(iter_records(batch, decompressed_bytes_max=0)) == RECORDS


def test_an_empty_batch_keeps_its_place_and_its_producer() -> None:
    batch = build_batch([], base_offset=5, last_offset=9, producer_id=4, compression=Compression.ZSTD)
    header = read_header(batch)
    assert (header.size, header.record_count, header.last_offset, header.producer_id) == (61, 0, 9, 4)
    assert list(iter_records(batch, decompressed_bytes_max=10)) == []


def test_a_delete_horizon_leaves_the_timestamps_alone() -> None:
    batch = build_batch(RECORDS, base_offset=0, delete_horizon_ms=5_000_000)
    header = read_header(batch)
    assert header.delete_horizon_ms == 5_000_000
    assert header.max_timestamp == 1_005
    assert list(iter_records(batch, decompressed_bytes_max=0)) == RECORDS
    assert read_header(build_batch(RECORDS)).delete_horizon_ms is None


@pytest.mark.parametrize("control_type", list(ControlType))
def test_markers_round_trip(control_type: ControlType) -> None:
    batch = build_end_transaction_marker(
        control_type, producer_id=7, producer_epoch=3, coordinator_epoch=12, timestamp_ms=99, base_offset=6
    )
    header = read_header(batch)
    assert header.is_control and header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, -1)
    assert read_end_transaction_marker(batch) == EndTransactionMarker(control_type, 12)


def test_marker_bytes_are_kafkas() -> None:
    batch = build_end_transaction_marker(
        ControlType.COMMIT, producer_id=1, producer_epoch=0, coordinator_epoch=5, timestamp_ms=0
    )
    (record,) = iter_records(batch, decompressed_bytes_max=0)
    assert (record.key, record.value) == (b"\0\0\0\1", b"\0\0\0\0\0\5")


def test_other_control_records_are_not_markers() -> None:
    leader_change = build_batch([Record(0, 0, b"\0\0\0\2", b"\0\0")], is_control=True)
    assert read_end_transaction_marker(leader_change) is None
    with pytest.raises(PeerError, match="key"):
        read_end_transaction_marker(build_batch([Record(0, 0, b"\0", b"")], is_control=True))
    with pytest.raises(PeerError, match="value"):
        read_end_transaction_marker(build_batch([Record(0, 0, b"\0\0\0\1", None)], is_control=True))


def broken(data: bytes, count: int = 1, last_offset_delta: int = 0) -> bytearray:
    batch = build_batch([Record(0, 0, b"k", b"v")])
    batch[61:] = data
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    batch[57:61] = count.to_bytes(4, "big", signed=True)
    batch[23:27] = last_offset_delta.to_bytes(4, "big")
    return batch


@pytest.mark.parametrize(
    ("data", "count", "says"),
    [
        (
            bytes([16, 0, 0, 0, 2]) + b"k" + bytes([2]) + b"v" + bytes([0]) + b"more....",
            1,
            "8 extra bytes",
        ),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([2]) + b"v" + bytes([0]), 2, "declares 2 records in 9 bytes"),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([2]) + b"v" + bytes([0]), -1, "declares -1 records"),
        (bytes([99, 0, 0, 0, 2]) + b"k" + bytes([2]) + b"v" + bytes([0]), 1, "length of -50 bytes"),
        (bytes([98, 0, 0, 0, 2]) + b"k" + bytes([2]) + b"v" + bytes([0]), 1, "length of 49 bytes"),
        (bytes([16, 0, 0, 2, 2]) + b"k" + bytes([2]) + b"v" + bytes([0]), 1, "offset delta 1"),
        (bytes([16, 0, 0, 0, 3]) + b"k" + bytes([2]) + b"v" + bytes([0]), 1, "key of -2"),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([3]) + b"v" + bytes([0]), 1, "value of -2"),
        (bytes([16, 0, 0, 0, 60]) + b"k" + bytes([2]) + b"v" + bytes([0]), 1, "past the end"),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([60]) + b"v" + bytes([0]), 1, "value of 30"),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([2]) + b"v" + bytes([2]), 1, "1 headers"),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([0]) + bytes([0]) + b"v", 1, "ends 1 bytes off"),
        (
            bytes([20, 0, 0, 0, 2]) + b"k" + bytes([0]) + bytes([2, 2]) + b"\xff" + bytes([0]) + b"",
            1,
            "UTF-8",
        ),
        (bytes([16, 0, 0, 0, 2]) + b"k" + bytes([0]) + bytes([2, 1]), 1, "no name"),
        (bytes([22, 0]) + b"\xff" * 10 + b"\1", 1, "more than 10 bytes"),
    ],
)
def test_a_broken_record_says_what_is_wrong(data: bytes, count: int, says: str) -> None:
    with pytest.raises(PeerError, match=says):
        list(iter_records(broken(data, count), decompressed_bytes_max=100))


def test_a_batch_must_be_handed_over_whole() -> None:
    batch = build_batch(RECORDS)
    for wrong in (batch[:-1], batch + b"x"):
        with pytest.raises(PeerError, match="are left"):
            list(iter_records(wrong, decompressed_bytes_max=100))
