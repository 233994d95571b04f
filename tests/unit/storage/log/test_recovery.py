"""Recovery after an unclean shutdown, and the leftovers of interrupted work."""

import logging
from random import Random

import pytest

from log_kit import (
    NOW_MS,
    ORDERS,
    append,
    append_marker,
    batch,
    flush,
    marker,
    new_log,
    open_directory,
    segment_starts,
    stored_batches,
    stored_records,
)
from moldau.protocol.records.control import ControlType
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig
from moldau.storage.names import segment_file
from moldau.testing.simulation.crash_disk import CrashDisk

CONFIG = LogConfig(segment_bytes=1000, index_interval_bytes=200)
LOG_PATH = "/data/orders-0"


@pytest.fixture
def disk() -> CrashDisk:
    return CrashDisk()


@pytest.fixture
def log(disk: CrashDisk) -> PartitionLog:
    """Sixty records in three-record batches over several segments, two leader epochs."""
    _, made = new_log(disk, CONFIG)
    for number in range(20):
        append(made, batch(3, value=bytes(40), timestamp=NOW_MS + number), epoch=number // 10)
    assert len(made.segments.all) >= 4
    return made


def reopened(disk: CrashDisk, config: LogConfig = CONFIG) -> PartitionLog:
    """As after a crash that lost nothing: the page cache outlives a killed process."""
    log = open_directory(disk, config).logs[ORDERS]
    log.advance_high_watermark(log.end_offset)
    return log


def path(offset: int, suffix: str) -> str:
    return f"{LOG_PATH}/{segment_file(offset, suffix)}"


def contents(disk: CrashDisk, *suffixes: str) -> dict[str, bytes]:
    return {
        name: disk.read_bytes(f"{LOG_PATH}/{name}") for name in disk.list(LOG_PATH) if name.endswith(suffixes)
    }


def kill(directory: LogDirectory) -> None:
    directory.close(clean=False)


@pytest.mark.parametrize(
    "tail",
    [b"\x00", bytes(100), bytes(5000), b"\xff" * 70, bytes(batch(3))[:-1], bytes(batch(3))],
    ids=[
        "a byte",
        "zeros",
        "many zeros",
        "noise",
        "most of a batch",
        "a batch with an offset that was before",
    ],
)
def test_a_torn_tail_is_cut_at_the_last_whole_batch(disk: CrashDisk, log: PartitionLog, tail: bytes) -> None:
    expected = stored_batches(log)
    active = log.segments.active
    disk.open(path(active.base_offset, ".log")).append(tail)
    del log
    found = reopened(disk)
    assert stored_batches(found) == expected
    assert found.end_offset == 60
    assert disk.open(path(active.base_offset, ".log")).size() == active.size
    assert append(found, batch()).base_offset == 60


def test_a_flipped_bit_ends_the_log_there(disk: CrashDisk, log: PartitionLog) -> None:
    second = log.segments.all[1]
    file = disk.open(path(second.base_offset, ".log"))
    file._inode.content[300] ^= 1
    found = reopened(disk)
    assert second.base_offset < found.end_offset < log.segments.all[2].base_offset
    assert [record.offset for record in stored_records(found)] == list(range(found.end_offset))
    assert segment_starts(found) == segment_starts(log)[:2]
    assert found.epochs.entries == ((0, 0),)


def test_indexes_epochs_and_snapshots_are_rebuilt_as_they_were(disk: CrashDisk) -> None:
    directory, log = new_log(disk, CONFIG)
    for number in range(10):
        append(log, batch(3, value=bytes(40), timestamp=NOW_MS - number, producer_id=5, sequence=number * 3))
        append(log, batch(2, producer_id=6, sequence=number * 2, is_transactional=True))
        append_marker(log, marker(ControlType(number % 2), producer_id=6))
    directory.close()
    kinds = (".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint")
    expected = contents(disk, *kinds)
    assert any(name.endswith(".txnindex") for name in expected)
    for name in expected:
        disk.remove(f"{LOG_PATH}/{name}")
    disk.remove("/data/.kafka_cleanshutdown")
    disk.remove("/data/recovery-point-offset-checkpoint")
    again = open_directory(disk, CONFIG)
    again.close()
    assert contents(disk, *kinds) == expected


@pytest.mark.parametrize("damage", ["missing", "torn", "empty checkpoint"])
def test_a_damaged_index_is_rebuilt_even_after_a_clean_stop(disk: CrashDisk, damage: str) -> None:
    directory, log = new_log(disk, CONFIG)
    for number in range(20):
        append(log, batch(3, value=bytes(40), timestamp=NOW_MS + number), epoch=number // 10)
    directory.close()
    expected = contents(disk, ".index", ".timeindex", "leader-epoch-checkpoint")
    if damage == "missing":
        disk.remove(path(0, ".index"))
        disk.remove(path(log.segments.all[1].base_offset, ".timeindex"))
    elif damage == "torn":
        disk.open(path(0, ".index")).append(b"\x00\x01\x02")
    else:
        disk.open(f"{LOG_PATH}/leader-epoch-checkpoint").truncate(0)
    again = open_directory(disk, CONFIG)
    found = again.logs[ORDERS]
    assert found.end_offset == 60
    assert found.epochs.entries == ((0, 0), (1, 30))
    again.close()
    assert contents(disk, ".index", ".timeindex", "leader-epoch-checkpoint") == expected


def test_only_segments_from_the_recovery_point_on_are_read(disk: CrashDisk, log: PartitionLog) -> None:
    directory = open_directory(disk := CrashDisk(), CONFIG)
    log = directory.create_log(ORDERS, None, CONFIG, now_ms=NOW_MS)
    for _ in range(20):
        append(log, batch(3, value=bytes(40)))
    flush(log, rolled_only=True)
    directory.write_checkpoints()
    first, active = log.segments.all[0], log.segments.active
    for segment in (first, active):
        disk.open(path(segment.base_offset, ".log"))._inode.content[70] ^= 1
    kill(directory)
    found = reopened(disk)
    assert found.end_offset == active.base_offset, "the active segment must be read"
    assert segment_starts(found)[0] == 0, "the first one must not"
    assert found.segments.all[0].size == first.size


def test_after_a_clean_stop_nothing_is_read(disk: CrashDisk) -> None:
    directory, log = new_log(disk, CONFIG)
    for _ in range(20):
        append(log, batch(3, value=bytes(40)))
    directory.close()
    for segment in log.segments.all:
        disk.open(path(segment.base_offset, ".log"))._inode.content[70] ^= 1
    again = open_directory(disk, CONFIG)
    assert again.was_clean
    assert again.logs[ORDERS].end_offset == 60
    assert not disk.exists("/data/.kafka_cleanshutdown")


def test_a_mark_counts_once(disk: CrashDisk, log: PartitionLog) -> None:
    open_directory(disk := CrashDisk()).close()
    assert open_directory(disk).was_clean
    assert not open_directory(disk.crash(Random(1))).was_clean


def test_lost_checkpoints_cost_only_time(
    disk: CrashDisk, log: PartitionLog, caplog: pytest.LogCaptureFixture
) -> None:
    disk.write_atomically("/data/recovery-point-offset-checkpoint", b"what?")
    with caplog.at_level(logging.WARNING):
        assert reopened(disk).end_offset == 60
    assert "recovery-point-offset-checkpoint" in caplog.text


def test_the_start_offset_survives_where_it_was_checkpointed(disk: CrashDisk, log: PartitionLog) -> None:
    log.delete_records_before(17)
    assert reopened(disk).start_offset == 0
    directory = open_directory(disk, CONFIG)
    log = directory.logs[ORDERS]
    log.advance_high_watermark(60)
    log.delete_records_before(17)
    directory.write_checkpoints()
    kill(directory)
    found = reopened(disk)
    assert found.start_offset == 17
    assert found.epochs.entries == ((0, 17), (1, 30))


def test_a_log_that_ends_before_its_start_begins_anew_there(disk: CrashDisk, log: PartitionLog) -> None:
    disk.write_atomically("/data/log-start-offset-checkpoint", b"0\n1\norders 0 500\n")
    found = reopened(disk)
    assert (found.start_offset, found.end_offset) == (500, 500)
    assert append(found, batch()).base_offset == 500


def test_the_high_watermark_is_where_the_checkpoint_says_but_within_the_log(
    disk: CrashDisk, log: PartitionLog
) -> None:
    for text, expected in ((b"0\n1\norders 0 33\n", 33), (b"0\n1\norders 0 99\n", 60), (b"0\n0\n", 0)):
        disk.write_atomically("/data/replication-offset-checkpoint", text)
        assert open_directory(disk, CONFIG).logs[ORDERS].high_watermark == expected


def test_leftovers_of_deletion_and_writing_are_removed(disk: CrashDisk, log: PartitionLog) -> None:
    names = [
        "00000000000000000099.log.deleted",
        "00000000000000000099.index.deleted",
        "00000000000000000099.snapshot.deleted",
        "leader-epoch-checkpoint.tmp",
        "00000000000000000000.log.cleaned",
        "00000000000000000000.index.cleaned",
    ]
    for name in names:
        disk.open(f"{LOG_PATH}/{name}", create=True).append(b"left over")
    disk.open(f"{LOG_PATH}/00000000000000000777.index", create=True)
    disk.open(f"{LOG_PATH}/notes.txt", create=True).append(b"not ours")
    assert reopened(disk).end_offset == 60
    left = set(disk.list(LOG_PATH))
    assert not left & {*names, "00000000000000000777.index"}
    assert "notes.txt" in left


def copy(disk: CrashDisk, old: str, new: str) -> None:
    disk.open(f"{LOG_PATH}/{new}", create=True).append(disk.read_bytes(f"{LOG_PATH}/{old}"))


def compacted(disk: CrashDisk, log: PartitionLog, suffix: str) -> None:
    """The first two segments as compaction would leave them: the second one's batches alone, in one segment."""
    second = log.segments.all[1]
    for kind in (".log", ".index", ".timeindex"):
        name = segment_file(0, kind) + suffix
        data = disk.read_bytes(path(second.base_offset, kind)) if kind == ".log" else b""
        disk.open(f"{LOG_PATH}/{name}", create=True).append(data)


def test_a_finished_compaction_is_carried_through(disk: CrashDisk, log: PartitionLog) -> None:
    compacted(disk, log, ".swap")
    second, third = log.segments.all[1:3]
    found = reopened(disk)
    assert segment_starts(found) == [
        0,
        *(start for start in segment_starts(log) if start >= third.base_offset),
    ]
    assert [record.offset for record in stored_records(found)] == list(range(second.base_offset, 60))


def test_an_unfinished_compaction_is_undone(disk: CrashDisk, log: PartitionLog) -> None:
    compacted(disk, log, ".cleaned")
    assert [record.offset for record in stored_records(reopened(disk))] == list(range(60))


def test_a_swap_with_an_earlier_segment_not_renamed_is_undone(disk: CrashDisk, log: PartitionLog) -> None:
    second = log.segments.all[1].base_offset
    compacted(disk, log, ".cleaned")
    copy(disk, segment_file(second, ".log"), segment_file(second, ".log") + ".swap")
    assert [record.offset for record in stored_records(reopened(disk))] == list(range(60))
    assert not [name for name in disk.list(LOG_PATH) if name.endswith((".swap", ".cleaned"))]


def test_truncation(disk: CrashDisk, log: PartitionLog) -> None:
    before = stored_batches(log)
    retired = log.truncate_to(31, now_ms=NOW_MS)
    for each in retired:
        each.remove()
    assert log.end_offset == log.high_watermark == 31
    assert stored_batches(log) == before[:10]
    assert log.epochs.entries == ((0, 0), (1, 30))
    assert append(log, batch(), epoch=2).base_offset == 31
    assert log.truncate_to(99, now_ms=NOW_MS) == []
    found = reopened(disk)
    assert stored_batches(found)[:10] == before[:10]
    assert found.end_offset == 32


def test_truncation_of_everything(disk: CrashDisk, log: PartitionLog) -> None:
    for retired in log.truncate_fully_and_start_at(1000, now_ms=NOW_MS):
        retired.remove()
    assert (log.start_offset, log.high_watermark, log.end_offset) == (1000, 1000, 1000)
    assert log.epochs.entries == ()
    append(log, batch(2))
    assert segment_starts(reopened(disk)) == [1000]


def test_truncation_below_the_first_segment_starts_over_there() -> None:
    _, log = new_log(CrashDisk(), CONFIG)
    log.truncate_fully_and_start_at(50, now_ms=NOW_MS)
    append(log, batch(3))
    log.truncate_to(20, now_ms=NOW_MS)
    assert (log.start_offset, log.end_offset) == (20, 20)


def test_a_truncated_log_knows_its_producers_as_of_then() -> None:
    _, log = new_log(CrashDisk(), CONFIG)
    for sequence in range(40):
        append(log, batch(producer_id=5, sequence=sequence))
    log.truncate_to(13, now_ms=NOW_MS)
    assert append(log, batch(producer_id=5, sequence=12)).is_duplicate
    assert append(log, batch(producer_id=5, sequence=13)).base_offset == 13
