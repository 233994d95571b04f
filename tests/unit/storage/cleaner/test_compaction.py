"""What compaction leaves of a log."""

import pytest
from compacted_log import CONFIG, TP, CompactedLog

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.records.batch import Compression
from moldau.protocol.records.control import ControlType
from moldau.storage.checkpoints import parse_offsets
from moldau.storage.cleaner.job import CleanerSettings
from moldau.storage.cleaner.offset_map import ENTRY_BYTES
from moldau.storage.os_files import OsFiles


@pytest.fixture
def log(tmp_path: object) -> CompactedLog:
    return CompactedLog(OsFiles(), str(tmp_path))


def test_customer_levels(log: CompactedLog) -> None:
    """The textbook example: the last level of each customer stays, at its old offset."""
    log.append((b"C0", b"Basic"))
    log.append((b"C1", b"Gold"))
    log.append((b"C0", b"Gold"))
    log.append((b"C2", b"Basic"))
    for _ in range(4, 100):
        log.append((b"C1", b"Silver"))
    assert log.append((b"C1", b"Basic")) == 100
    assert log.clean()
    assert log.contents() == [(2, b"C0", b"Gold"), (3, b"C2", b"Basic"), (100, b"C1", b"Basic")]


def test_customer_leaves(log: CompactedLog) -> None:
    """A null value deletes: first the customer's records go, then the tombstone."""
    test_customer_levels(log)
    assert log.append((b"C0", None)) == 101
    log.clean()
    after_delete = [(3, b"C2", b"Basic"), (100, b"C1", b"Basic"), (101, b"C0", None)]
    assert log.contents() == after_delete
    log.pass_delete_retention()
    log.touch()
    log.clean()
    assert [row for row in log.contents() if row[1] != b"touch"] == after_delete[:-1]


def test_nothing_is_due_twice(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    assert log.clean()
    assert log.begin() is None
    log.roll()
    assert log.begin() is None


def test_the_active_segment_stays_as_it_is(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    log.append((b"a", b"2"))
    assert log.begin() is None
    log.roll()
    log.append((b"a", b"3"))
    job = log.begin()
    assert job is not None
    job.run()
    log.finish(job)
    assert log.contents() == [(1, b"a", b"2"), (2, b"a", b"3")]


def test_offsets_go_on_and_reads_in_gaps_find_the_next_record(log: CompactedLog) -> None:
    for i in range(50):
        log.append((b"k%d" % (i % 5), b"%d" % i))
    log.clean()
    assert [offset for offset, _, _ in log.contents()] == [45, 46, 47, 48, 49]
    assert log.append((b"k0", b"new")) == 50
    piece = log.log.read(10, 1 << 20, end_offset=51, at_least_one_batch=True)
    assert piece is not None and piece.size > 0
    with pytest.raises(ApiError) as refused:
        log.log.read(52, 1, end_offset=52, at_least_one_batch=True)
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize("codec", list(Compression))
def test_a_thinned_batch_keeps_its_codec_and_its_place(log: CompactedLog, codec: Compression) -> None:
    log.append((b"a", b"1" * 50), (b"b", b"2" * 50), (b"a", b"3" * 50), compression=codec)
    log.append((b"b", b"4" * 50))
    log.clean()
    header, _ = log.batches()[0]
    assert header.compression is codec
    assert (header.base_offset, header.last_offset, header.record_count) == (0, 2, 1)
    assert header.partition_leader_epoch == 3
    assert log.contents() == [(2, b"a", b"3" * 50), (3, b"b", b"4" * 50)]


def test_a_whole_batch_is_copied_byte_by_byte(log: CompactedLog) -> None:
    log.append((b"a", b"1"), (b"b", b"2"), compression=Compression.GZIP)
    log.append((b"c", b"3"))
    before = log.batches()
    log.clean()
    assert log.batches() == before


def test_small_segments_are_merged(tmp_path: object) -> None:
    log = CompactedLog(OsFiles(), str(tmp_path))
    for i in range(20):
        log.append((b"k%d" % (i % 4), b"%d" % i))
        log.roll()
    assert len(log.log.segments.all) == 21
    log.clean()
    assert len(log.log.segments.all) == 2
    assert {name for name in log.files() if name.endswith(".log")} == {f"{0:020d}.log", f"{20:020d}.log"}
    log.configure(segment_bytes=500)
    for i in range(20, 40):
        log.append((b"u%d" % i, bytes(60)))
        log.roll()
    log.clean()
    assert all(0 < segment.size <= 500 for segment in log.log.segments.all[1:-1])
    assert len(log.log.segments.all) < 12
    assert len(log.contents()) == 24


def test_tombstones_wait_from_the_first_cleaning_that_met_them(log: CompactedLog) -> None:
    log.append((b"a", None), (b"b", b"1"))
    log.now_ms += 10 * CONFIG.delete_retention_ms
    log.clean()
    (header, _), *_ = log.batches()
    assert header.delete_horizon_ms == log.now_ms + CONFIG.delete_retention_ms
    assert {record.timestamp for record in log.records()} == {1_000_000}
    assert header.max_timestamp == 1_000_000
    horizon = header.delete_horizon_ms
    log.now_ms = horizon - 1
    log.touch()
    log.clean()
    assert (0, b"a", None) in log.contents()
    assert log.batches()[0][0].delete_horizon_ms == horizon
    log.now_ms = horizon
    log.touch()
    log.clean()
    assert [row for row in log.contents() if row[1] != b"touch"] == [(1, b"b", b"1")]


def test_a_reader_that_has_seen_nothing_yet_can_finish_before_a_tombstone_goes(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    log.roll()
    log.append((b"a", None))
    log.clean()
    assert log.contents() == [(1, b"a", None)]


def test_a_map_that_is_too_small_takes_several_rounds(tmp_path: object) -> None:
    settings = CleanerSettings(dedupe_buffer_bytes=ENTRY_BYTES * 10, load_factor=1.0)
    log = CompactedLog(OsFiles(), str(tmp_path), settings=settings)
    for i in range(100):
        log.append((b"k%d" % (i % 35), b"%d" % i))
        if i % 7 == 0:
            log.roll()
    log.roll()
    rounds = 0
    while (job := log.begin()) is not None:
        job.run()
        assert job.outcome is not None and job.outcome.keys <= 10
        log.finish(job)
        rounds += 1
        assert rounds < 50
    assert rounds > 1
    assert log.contents() == [(i, b"k%d" % (i % 35), b"%d" % i) for i in range(65, 100)]


def test_a_log_emptied_by_deletes_keeps_its_end(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    log.append((b"a", None))
    log.clean()
    log.pass_delete_retention()
    log.touch()
    log.clean()
    log.append((b"touch", None))
    log.clean()
    log.pass_delete_retention()
    log.append((b"z", b"1"))
    log.clean()
    assert log.contents() == [(4, b"z", b"1")]
    log.reopen()
    assert log.log.end_offset == 5


def test_an_emptied_segment_still_tells_where_it_ended(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    log.roll()
    log.append((b"a", b"2"))
    log.roll()
    log.append((b"a", b"3"))
    log.clean()
    log.reopen(clean=False)
    assert log.log.end_offset == 3
    assert log.contents() == [(2, b"a", b"3")]


# --- producers and transactions


def test_the_last_batch_of_a_producer_stays_without_its_records(log: CompactedLog) -> None:
    log.append((b"a", b"1"), (b"a", b"2"), producer_id=7)
    log.append((b"a", b"3"))
    log.clean()
    header, _ = log.batches()[0]
    assert (header.producer_id, header.record_count, header.last_sequence) == (7, 0, 1)
    log.reopen(clean=False)
    log.append((b"b", b"4"), producer_id=7)  # sequence 2 follows
    assert log.contents() == [(2, b"a", b"3"), (3, b"b", b"4")]
    log.clean()
    assert [header.producer_id for header, _ in log.batches()] == [-1, 7]


def test_aborted_records_go_and_their_marker_after_them(log: CompactedLog) -> None:
    log.append((b"a", b"1"), producer_id=7, transactional=True)
    log.end_transaction(ControlType.COMMIT, 7)
    log.append((b"a", b"aborted"), (b"b", b"aborted"), producer_id=7, transactional=True)
    log.end_transaction(ControlType.ABORT, 7)
    log.append((b"c", b"aborted"), producer_id=8, transactional=True)
    log.end_transaction(ControlType.ABORT, 8)
    log.append((b"d", b"1"), producer_id=7, transactional=True)
    log.end_transaction(ControlType.COMMIT, 7)
    log.touch()
    assert log.log.segments.aborted_transactions(0, log.log.end_offset) == [(7, 2), (8, 5)]
    log.clean()
    visible = [row for row in log.contents() if row[1] != b"touch"]
    assert visible == [(0, b"a", b"1"), (7, b"d", b"1")]
    markers = [header.base_offset for header, _ in log.batches() if header.is_control]
    assert markers == [1, 4, 6, 8]
    # The empty last batch of producer 8 is still there, so readers need its abort.
    assert (8, 5) in log.log.segments.aborted_transactions(0, log.log.end_offset)

    log.touch()
    log.clean()  # the markers of transactions without data get their horizon
    markers = {header.base_offset: header for header, _ in log.batches() if header.is_control}
    assert list(markers) == [1, 4, 6, 8]
    assert markers[4].delete_horizon_ms == log.now_ms + CONFIG.delete_retention_ms
    assert markers[8].delete_horizon_ms is None
    log.pass_delete_retention()
    log.touch()
    log.clean()
    markers = [header.base_offset for header, _ in log.batches() if header.is_control]
    assert 4 not in markers
    assert {1, 8} <= set(markers)
    assert [row for row in log.contents() if row[1] != b"touch"] == visible


def test_an_unfinished_transaction_is_not_touched(log: CompactedLog) -> None:
    log.append((b"a", b"0"))
    log.roll()
    log.append((b"a", b"1"), producer_id=7, transactional=True)
    log.roll()
    log.append((b"a", b"2"))
    log.roll()
    job = log.begin()
    assert job is not None
    assert job.task.plan.first_uncleanable_offset == 1
    job.run()
    log.finish(job)
    assert log.contents() == [(0, b"a", b"0"), (1, b"a", b"1"), (2, b"a", b"2")]
    log.end_transaction(ControlType.COMMIT, 7)
    log.clean()
    assert log.contents() == [(2, b"a", b"2")]


def test_an_aborted_value_does_not_hide_the_one_before(log: CompactedLog) -> None:
    log.append((b"a", b"good"))
    log.append((b"a", b"bad"), producer_id=7, transactional=True)
    log.roll()
    log.end_transaction(ControlType.ABORT, 7)
    log.clean()
    assert log.contents() == [(0, b"a", b"good")]


def test_the_epoch_of_a_producer_without_data_is_kept_by_its_marker(log: CompactedLog) -> None:
    log.append((b"a", b"aborted"), producer_id=7, transactional=True)
    log.end_transaction(ControlType.ABORT, 7, epoch=1)
    for _ in range(3):
        log.pass_delete_retention()
        log.touch()
        log.clean()
    header, _ = log.batches()[0]
    assert (header.producer_id, header.producer_epoch, header.record_count) == (7, 1, 0)


def test_the_last_batch_of_a_round_stays_without_its_records(log: CompactedLog) -> None:
    log.append((b"a", b"good"))
    log.append((b"a", b"aborted"), producer_id=7, transactional=True)
    log.roll()
    log.end_transaction(ControlType.ABORT, 7)
    log.append((b"b", b"1"), producer_id=7)
    job = log.begin()
    assert job is not None
    job.run()
    log.finish(job)
    shells = [header.base_offset for header, _ in log.batches() if header.record_count == 0]
    assert shells == [1]


def test_leftovers_of_a_killed_round_do_not_get_in(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    for kind in (".log", ".index", ".timeindex", ".txnindex"):
        log.disk.write_atomically(f"{log.log.directory}/{0:020d}{kind}.cleaned", b"rubbish" * 20)
    log.clean()
    assert log.contents() == [(0, b"a", b"1")]
    log.reopen()
    assert log.contents() == [(0, b"a", b"1")]


# --- compact,delete, checkpoint


def test_compact_and_delete_together(tmp_path: object) -> None:
    log = CompactedLog(OsFiles(), str(tmp_path))
    log.configure(delete=True, retention_ms=5_000)
    log.append((b"a", b"1"), (b"a", b"2"))
    log.clean()
    log.now_ms += 10_000
    log.append((b"b", b"1"))
    assert log.contents() == [(1, b"a", b"2"), (2, b"b", b"1")]
    for retired in log.log.apply_retention(log.now_ms):
        retired.remove()
    assert log.contents() == [(2, b"b", b"1")]
    log.append((b"b", b"2"))
    log.clean()
    assert log.contents() == [(3, b"b", b"2")]


def test_the_checkpoint_is_kafkas_and_survives_a_restart(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    log.clean()
    path = f"{log.path}/cleaner-offset-checkpoint"
    assert parse_offsets(log.disk.read_bytes(path), path) == {TP: 1}
    log.reopen()
    assert log.cleaner.clean_offsets == {TP: 1}
    assert log.begin() is None
    settle = log.cleaner.deleted(TP)
    assert settle is not None
    settle.run()
    assert parse_offsets(log.disk.read_bytes(path), path) == {}


def test_a_log_created_anew_under_the_same_name_is_all_dirty(log: CompactedLog) -> None:
    for _ in range(3):
        log.append((b"a", b"1"))
    log.clean()
    log.cleaner.uncleanable[TP] = "the old one was damaged"
    log.directory.delete_log(TP).run()
    log.log = log.directory.create_log(TP, None, CONFIG, now_ms=log.now_ms)
    for value in (b"1", b"2", b"3", b"4"):
        log.append((b"a", value))
    log.clean()
    assert log.contents() == [(3, b"a", b"4")]
    log.directory.delete_log(TP).run()
    assert log.begin() is None
    assert log.cleaner.clean_offsets == {}


def test_a_checkpoint_outside_the_log_means_all_is_dirty(log: CompactedLog) -> None:
    log.append((b"a", b"1"))
    log.append((b"a", b"2"))
    log.roll()
    log.cleaner.clean_offsets[TP] = 99
    job = log.begin()
    assert job is not None
    assert job.task.plan.first_dirty_offset == 0


def test_kafka_reads_the_compacted_indexes_right(log: CompactedLog) -> None:
    for i in range(300):
        log.now_ms += 1
        log.append((b"key-%d" % (i % 100), b"v%d" % i))
    log.clean()
    segment = log.log.segments.all[0]
    assert len(segment.offset_index) > 3
    for offset in range(200, 300):
        position = segment.position_of(offset)
        assert position is not None
    found = log.log.find_offset_by_time(1_000_000 + 250)
    assert found is not None and found.offset == 249
