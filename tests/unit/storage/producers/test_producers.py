"""Idempotence and transactions in one log, and the snapshot file."""

import struct

import pytest
from crc32c import crc32c

from log_kit import NOW_MS, append, append_marker, batch, flush, marker, new_log, open_directory
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.records.batch import SEQUENCE_MAX
from moldau.protocol.records.control import ControlType
from moldau.storage.log.appending import Appended
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig
from moldau.storage.producers.producer_state import ProducerState, ProducerStateView, SnapshotError
from moldau.testing.simulation.crash_disk import CrashDisk

DAY_MS = 24 * 3_600_000


def new() -> PartitionLog:
    return new_log(CrashDisk())[1]


def send(
    log: PartitionLog, sequence: int, count: int = 1, *, epoch: int = 0, transactional: bool = False
) -> Appended:
    made = batch(
        count, producer_id=7, producer_epoch=epoch, sequence=sequence, is_transactional=transactional
    )
    return append(log, made)


def refused(log: PartitionLog, sequence: int, *, epoch: int = 0) -> ErrorCode:
    end_offset = log.end_offset
    with pytest.raises(ApiError) as raised:
        send(log, sequence, epoch=epoch)
    assert log.end_offset == end_offset
    return raised.value.code


def test_a_repeated_batch_gets_its_first_answer() -> None:
    log = new()
    append(log, batch(10))
    answers = [send(log, sequence, 2) for sequence in (0, 2, 4, 6, 8)]
    for sequence, answer in zip((0, 2, 4, 6, 8), answers, strict=True):
        assert send(log, sequence, 2) == answer._replace(is_duplicate=True)
    assert log.end_offset == 20


def test_only_the_last_five_are_remembered() -> None:
    log = new()
    for sequence in range(6):
        send(log, sequence)
    assert refused(log, 0) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 1).is_duplicate


def test_gaps_are_refused_and_the_right_one_still_goes_in() -> None:
    log = new()
    send(log, 0, 3)
    assert refused(log, 4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(log, 1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(log, 3)


def test_an_unknown_producer_may_begin_anywhere() -> None:
    """Retention may have removed its earlier batches."""
    log = new()
    assert send(log, 500).base_offset == 0
    assert refused(log, 502) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_epochs_fence_and_start_over() -> None:
    log = new()
    send(log, 0, epoch=3)
    assert refused(log, 1, epoch=2) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused(log, 1, epoch=4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(log, 0, epoch=4)
    assert refused(log, 1, epoch=3) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_sequence_numbers_go_on_from_zero() -> None:
    log = new()
    send(log, SEQUENCE_MAX - 1, 3)
    assert send(log, SEQUENCE_MAX - 1, 3).is_duplicate
    send(log, 1)
    assert log.end_offset == 4


def test_other_producers_are_none_of_its_business() -> None:
    log = new()
    send(log, 0)
    append(log, batch(producer_id=8, sequence=0))
    append(log, batch())
    send(log, 1)


def test_producers_are_forgotten_after_their_time() -> None:
    log = new()
    send(log, 0)
    log.expire_producers(NOW_MS + DAY_MS - 1)
    assert len(log.producers.views()) == 1
    log.expire_producers(NOW_MS + DAY_MS)
    assert log.producers.views() == []
    assert not send(log, 77).is_duplicate


def test_what_describe_producers_is_told() -> None:
    log = new()
    send(log, 5, 3, epoch=2, transactional=True)
    assert log.producers.views() == [ProducerStateView(7, 2, 7, NOW_MS, -1, 0)]
    append_marker(log, marker(ControlType.COMMIT, producer_id=7, producer_epoch=2, coordinator_epoch=9))
    assert log.producers.views() == [ProducerStateView(7, 2, 7, NOW_MS, 9, -1)]


def test_the_last_stable_offset_waits_for_the_earliest_transaction() -> None:
    log = new()
    append(log, batch(2))
    assert log.last_stable_offset == 2
    send(log, 0, 2, transactional=True)
    append(log, batch(3, producer_id=8, sequence=0, is_transactional=True))
    assert (log.high_watermark, log.last_stable_offset) == (7, 2)
    append_marker(log, marker(ControlType.COMMIT, producer_id=8))
    assert log.last_stable_offset == 2
    append_marker(log, marker(ControlType.ABORT, producer_id=7))
    assert log.last_stable_offset == log.end_offset == 9


def test_an_ended_transaction_counts_once_its_marker_is_below_the_high_watermark() -> None:
    log = new()
    append(log, batch())
    made = batch(producer_id=7, sequence=0, is_transactional=True)
    log.append_as_leader(made, leader_epoch=0, now_ms=NOW_MS)
    end = marker(ControlType.COMMIT, producer_id=7)
    log.append_as_leader(end, leader_epoch=0, now_ms=NOW_MS, is_client=False)
    log.advance_high_watermark(2)
    assert log.last_stable_offset == 1
    log.advance_high_watermark(3)
    assert log.last_stable_offset == 3


def test_aborted_transactions_are_listed_for_the_range_they_touch() -> None:
    _, log = new_log(CrashDisk(), LogConfig(segment_bytes=300))
    for round_ in range(6):
        send(log, round_ * 2, 2, transactional=True)
        append_marker(log, marker(ControlType(round_ % 2), producer_id=7))
    assert len(log.segments.all) > 2
    assert log.segments.aborted_transactions(0, log.end_offset) == [(7, 0), (7, 6), (7, 12)]
    assert log.segments.aborted_transactions(3, log.end_offset) == [(7, 6), (7, 12)]
    assert log.segments.aborted_transactions(3, 6) == []
    assert log.segments.aborted_transactions(7, 8) == [(7, 6)]


def test_old_coordinators_are_fenced() -> None:
    log = new()
    send(log, 0, transactional=True)
    append_marker(log, marker(ControlType.ABORT, producer_id=7, coordinator_epoch=5))
    send(log, 1, transactional=True)
    with pytest.raises(ApiError) as raised:
        append_marker(log, marker(ControlType.COMMIT, producer_id=7, coordinator_epoch=4))
    assert raised.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_plain_batch_inside_a_transaction_is_refused() -> None:
    log = new()
    send(log, 0, transactional=True)
    with pytest.raises(ApiError) as raised:
        send(log, 1)
    assert raised.value.code is ErrorCode.INVALID_TXN_STATE


def test_the_snapshot_is_byte_for_byte_kafkas() -> None:
    log = new()
    append(log, batch(4))
    send(log, 0, 3, epoch=1, transactional=True)
    state = log.producers.state
    assert state is not None
    entries = struct.pack(">iqhiqiqiq", 1, 7, 1, 2, 6, 2, NOW_MS, -1, 4)
    assert state.encode_snapshot() == struct.pack(">hI", 1, crc32c(entries)) + entries


def test_a_damaged_snapshot_is_not_believed() -> None:
    good = ProducerState().encode_snapshot()
    assert ProducerState.decode_snapshot(good).is_empty
    for bad in (b"", good[:-1], good[:2] + b"\x00" + good[3:], b"\x00\x02" + good[2:], good + b"\x00"):
        with pytest.raises(SnapshotError):
            ProducerState.decode_snapshot(bad)


def test_idempotence_outlives_restarts() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    answer = send(log, 0, 3)
    directory.close()
    assert f"{log.directory}/00000000000000000003.snapshot" in [
        f"{log.directory}/{n}" for n in disk.list(log.directory)
    ]
    (log,) = open_directory(disk).logs.values()
    assert send(log, 0, 3) == answer._replace(is_duplicate=True)
    assert refused(log, 4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(log, 3)


def test_idempotence_outlives_a_lost_snapshot() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk, LogConfig(segment_bytes=400))
    answers = [send(log, sequence) for sequence in range(20)]
    flush(log)
    directory.close(clean=False)
    for name in disk.list(log.directory):
        if name.endswith(".snapshot"):
            disk.open(f"{log.directory}/{name}").truncate(5)
    (log,) = open_directory(disk, LogConfig(segment_bytes=400)).logs.values()
    assert send(log, 19) == answers[19]._replace(is_duplicate=True)
    send(log, 20)


def test_an_open_transaction_outlives_restarts() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    append(log, batch(2))
    send(log, 0, transactional=True)
    directory.close()
    (log,) = open_directory(disk).logs.values()
    assert log.last_stable_offset == 2
    append_marker(log, marker(ControlType.ABORT, producer_id=7))
    assert log.last_stable_offset == 4
    assert log.segments.aborted_transactions(0, 4) == [(7, 2)]


def test_a_log_nobody_used_with_ids_has_no_snapshot() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    append(log, batch())
    directory.close()
    assert not [name for name in disk.list(log.directory) if name.endswith(".snapshot")]


def test_expired_producers_do_not_come_back_with_a_snapshot() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    send(log, 0)
    directory.close()
    (log,) = open_directory(disk, now_ms=NOW_MS + DAY_MS).logs.values()
    assert log.producers.views() == []
