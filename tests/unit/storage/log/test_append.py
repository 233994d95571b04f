"""What a leader accepts, rejects and changes in a batch."""

import pytest

from log_kit import NOW_MS, append, batch, marker, new_log, stored_batches, stored_records
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.records.batch import (
    ATTRIBUTES_AT,
    CRC_AT,
    LAST_OFFSET_DELTA_AT,
    LENGTH_AT,
    MAGIC_AT,
    PRODUCER_ID_AT,
    RECORD_COUNT_AT,
    Compression,
    crc_matches,
    read_header,
    write_crc,
)
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.control import ControlType
from moldau.protocol.records.record import Record
from moldau.storage.log.append_check import DECOMPRESSED_BYTES_MAX, RecordsRefused, UnpackingNeeded
from moldau.storage.log.appending import Appended
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig
from moldau.testing.simulation.crash_disk import CrashDisk

HOUR_MS = 3_600_000


def log_with(config: LogConfig | None = None) -> PartitionLog:
    return new_log(CrashDisk(), config)[1]


def refusal(log: PartitionLog, records: memoryview) -> ApiError:
    end_offset = log.end_offset
    with pytest.raises(ApiError) as raised:
        append(log, records)
    assert log.end_offset == end_offset
    assert raised.value.message
    return raised.value


def with_field(records: memoryview, position: int, value: bytes, *, keep_crc: bool = False) -> memoryview:
    records[position : position + len(value)] = value
    if not keep_crc:
        write_crc(records, 0, len(records))
    return records


def test_offsets_and_epoch_are_assigned_and_the_crc_still_holds() -> None:
    log = log_with()
    assert append(log, batch(3), epoch=7) == Appended(0, 2, -1, 0, False)
    assert append(log, batch(2), epoch=8) == Appended(3, 4, -1, 0, False)
    first, second = stored_batches(log)
    assert read_header(first)[:3] == (0, len(first) - 12, 7)
    assert read_header(second).base_offset == 3
    assert read_header(second).partition_leader_epoch == 8
    assert crc_matches(memoryview(second), 0, len(second))
    assert log.epochs.entries == ((7, 0), (8, 3))
    assert [record.offset for record in stored_records(log)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("compression", Compression)
def test_every_codec_is_stored_as_it_came(compression: Compression) -> None:
    log = log_with()
    sent = batch(5, compression=compression)
    append(log, sent)
    assert stored_batches(log) == [bytes(sent)]


def test_too_large() -> None:
    log = log_with(LogConfig(max_message_bytes=200))
    assert refusal(log, batch(value=bytes(200))).code is ErrorCode.MESSAGE_TOO_LARGE
    append(log, batch(value=bytes(20)))


def test_larger_than_a_segment() -> None:
    assert refusal(log_with(LogConfig(segment_bytes=200)), batch(value=bytes(300))).code is (
        ErrorCode.RECORD_LIST_TOO_LARGE
    )


def test_damaged_in_flight() -> None:
    records = batch(3)
    records[-1] ^= 1
    assert refusal(log_with(), records).code is ErrorCode.CORRUPT_MESSAGE
    assert refusal(log_with(), with_field(batch(), CRC_AT, bytes(4), keep_crc=True)).code is (
        ErrorCode.CORRUPT_MESSAGE
    )


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (memoryview(bytearray()), ErrorCode.INVALID_RECORD),
        (memoryview(bytearray(11)), ErrorCode.INVALID_RECORD),
        (memoryview(bytearray(batch()[:40])), ErrorCode.INVALID_RECORD),
        (with_field(batch(), LENGTH_AT, b"\x00\x00\x00\x05", keep_crc=True), ErrorCode.CORRUPT_MESSAGE),
        (with_field(batch(), LENGTH_AT, b"\xff\xff\xff\xff", keep_crc=True), ErrorCode.CORRUPT_MESSAGE),
        (with_field(batch(), LENGTH_AT, b"\x7f\xff\xff\xff", keep_crc=True), ErrorCode.INVALID_RECORD),
        (with_field(batch(), MAGIC_AT, b"\x01"), ErrorCode.INVALID_RECORD),
        (with_field(batch(), MAGIC_AT, b"\x00"), ErrorCode.INVALID_RECORD),
        (with_field(batch(), MAGIC_AT, b"\x03"), ErrorCode.CORRUPT_MESSAGE),
        (with_field(batch(), ATTRIBUTES_AT, b"\x00\x07"), ErrorCode.INVALID_RECORD),
        (with_field(batch(), 0, b"\x00\x00\x00\x00\x00\x00\x00\x05"), ErrorCode.INVALID_RECORD),
        (with_field(batch(2), RECORD_COUNT_AT, b"\x00\x00\x00\x03"), ErrorCode.INVALID_RECORD),
        (with_field(batch(2), RECORD_COUNT_AT, b"\x00\x00\x00\x00"), ErrorCode.INVALID_RECORD),
        (with_field(batch(2), LAST_OFFSET_DELTA_AT, b"\xff\xff\xff\xff"), ErrorCode.INVALID_RECORD),
        (with_field(batch(), PRODUCER_ID_AT, b"\x00\x00\x00\x00\x00\x00\x00\x05"), ErrorCode.INVALID_RECORD),
        (memoryview(bytearray(batch()) + bytearray(batch())), ErrorCode.INVALID_RECORD),
        (marker(ControlType.COMMIT, producer_id=3), ErrorCode.INVALID_RECORD),
    ],
)
def test_what_no_client_may_send(records: memoryview, code: ErrorCode) -> None:
    assert refusal(log_with(), records).code is code


def test_more_records_than_the_bytes_can_hold() -> None:
    """A batch with a wrong record count would use up offsets that no record has."""
    log = log_with()
    many = (1_000_000).to_bytes(4, "big")
    records = with_field(batch(1), RECORD_COUNT_AT, many)
    records = with_field(records, LAST_OFFSET_DELTA_AT, (999_999).to_bytes(4, "big"))
    assert refusal(log, records).code is ErrorCode.INVALID_RECORD


def test_a_piece_of_a_second_batch_is_left_out() -> None:
    log = log_with()
    sent = batch()
    append(log, memoryview(bytearray(sent) + bytearray(batch()[:30])))
    assert [len(stored) for stored in stored_batches(log)] == [len(sent)]


def test_keyless_records_on_a_compacted_topic_are_named_one_by_one() -> None:
    log = log_with(LogConfig(compact=True))
    records = [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS, None, b"v"), Record(2, NOW_MS, None, None)]
    error = refusal(log, memoryview(build_batch(records)))
    assert isinstance(error, RecordsRefused)
    assert error.code is ErrorCode.INVALID_RECORD
    assert [index for index, _ in error.record_errors] == [1, 2]
    append(log, batch(3, compression=Compression.ZSTD))


def test_records_from_the_future_and_from_long_ago() -> None:
    log = log_with(LogConfig(message_timestamp_before_max_ms=HOUR_MS, message_timestamp_after_max_ms=HOUR_MS))
    records = [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS + HOUR_MS + 1, b"k", b"v")]
    error = refusal(log, memoryview(build_batch(records)))
    assert isinstance(error, RecordsRefused)
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in error.record_errors] == [1]
    assert refusal(log, batch(timestamp=NOW_MS - HOUR_MS - 1)).code is ErrorCode.INVALID_TIMESTAMP
    append(log, batch(timestamp=NOW_MS - HOUR_MS))
    append(log, batch(timestamp=-1))


def test_by_default_an_hour_ahead_is_the_limit_and_the_past_has_none() -> None:
    log = log_with()
    assert refusal(log, batch(timestamp=NOW_MS + HOUR_MS + 1)).code is ErrorCode.INVALID_TIMESTAMP
    append(log, batch(timestamp=1))


def test_the_broker_sets_the_time_where_the_topic_says_so() -> None:
    log = log_with(LogConfig(log_append_time=True))
    appended = append(log, batch(2, timestamp=5, compression=Compression.LZ4), now_ms=NOW_MS)
    assert appended.log_append_time_ms == NOW_MS
    (stored,) = stored_batches(log)
    assert read_header(stored).is_log_append_time
    assert [record.timestamp for record in stored_records(log)] == [NOW_MS, NOW_MS]
    forged = batch()
    forged = with_field(forged, ATTRIBUTES_AT, b"\x00\x08")
    assert refusal(log, forged).code is ErrorCode.INVALID_TIMESTAMP


def test_a_producer_that_claims_append_time_gets_its_own_time_back() -> None:
    log = log_with()
    append(log, with_field(batch(timestamp=NOW_MS), ATTRIBUTES_AT, b"\x00\x08"))
    (stored,) = stored_batches(log)
    assert not read_header(stored).is_log_append_time
    assert crc_matches(memoryview(stored), 0, len(stored))


@pytest.mark.parametrize("target", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_a_topic_with_a_codec_of_its_own_stores_in_that(target: str) -> None:
    codec = Compression.NONE if target == "uncompressed" else Compression[target.upper()]
    log = log_with(LogConfig(compression_type=target))
    for sent in Compression:
        append(log, batch(10, value=bytes(100), compression=sent))
    assert {read_header(stored).compression for stored in stored_batches(log)} == {codec}
    assert [record.offset for record in stored_records(log)] == list(range(50))
    assert {record.value for record in stored_records(log)} == {bytes(100)}


def test_what_grows_past_the_limit_by_unpacking_is_refused() -> None:
    log = log_with(LogConfig(compression_type="uncompressed", max_message_bytes=5000))
    small = batch(10, value=bytes(1000), compression=Compression.ZSTD)
    assert len(small) < 500
    assert refusal(log, small).code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.slow
def test_a_bomb_is_refused_by_its_size() -> None:
    log = log_with(LogConfig(compression_type="lz4"))
    bomb = batch(1, value=bytes(DECOMPRESSED_BYTES_MAX + 1), compression=Compression.ZSTD)
    error = refusal(log, bomb)
    assert error.code is ErrorCode.INVALID_RECORD
    assert str(DECOMPRESSED_BYTES_MAX) in str(error)


def test_garbage_where_records_should_be_is_refused_when_we_have_to_look() -> None:
    log = log_with(LogConfig(compact=True))
    records = batch(3)
    records[61:66] = b"\xff\xff\xff\xff\xff"
    write_crc(records, 0, len(records))
    assert refusal(log, records).code is ErrorCode.INVALID_RECORD


def test_followers_store_what_their_leader_has() -> None:
    leader, follower = log_with(), log_with(LogConfig(segment_bytes=400))
    for epoch in (0, 0, 3, 3, 3):
        append(leader, batch(2, value=bytes(50)), epoch=epoch)
    sent = b"".join(stored_batches(leader))
    appended = follower.append_as_follower(memoryview(bytearray(sent[:-10])), now_ms=NOW_MS)
    assert (appended.base_offset, appended.last_offset) == (0, 7)
    rest = stored_batches(leader)[-1]
    follower.append_as_follower(memoryview(bytearray(rest)), now_ms=NOW_MS)
    follower.advance_high_watermark(10)
    assert stored_batches(follower) == stored_batches(leader)
    assert follower.epochs.entries == leader.epochs.entries == ((0, 0), (3, 4))
    assert len(follower.segments.all) == 2
    for bad in (rest, bytes(80), rest[:-1] + b"\x00"):
        with pytest.raises(ApiError):
            follower.append_as_follower(memoryview(bytearray(bad)), now_ms=NOW_MS)
    assert follower.end_offset == 10


def test_nothing_is_lost_between_leader_and_follower_when_offsets_have_gaps() -> None:
    """Compaction leaves gaps; a new follower of such a log gets them too."""
    follower = log_with()
    records = [Record(5_000_000_000, NOW_MS, b"k", b"v")]
    far = build_batch(records, base_offset=5_000_000_000, leader_epoch=2)
    follower.append_as_follower(
        memoryview(build_batch([Record(3, NOW_MS, b"k", b"v")], base_offset=3)), now_ms=NOW_MS
    )
    follower.append_as_follower(memoryview(far), now_ms=NOW_MS)
    follower.advance_high_watermark(follower.end_offset)
    assert [record.offset for record in stored_records(follower)] == [3, 5_000_000_000]
    assert [segment.base_offset for segment in follower.segments.all] == [0, 5_000_000_000]


def test_what_must_be_unpacked_is_left_to_a_worker() -> None:
    log = log_with(LogConfig(compression_type="zstd"))
    sent = batch(10, value=bytes(1000), compression=Compression.GZIP)
    with pytest.raises(UnpackingNeeded):
        log.append_as_leader(sent, leader_epoch=0, now_ms=NOW_MS)
    prepared = log.prepare(sent, now_ms=NOW_MS)
    log.append_as_leader(prepared, leader_epoch=0, now_ms=NOW_MS, is_prepared=True)
    assert log.end_offset == 10
