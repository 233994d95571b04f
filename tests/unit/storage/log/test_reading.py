"""Reading: limits, offsets inside a batch, partial answers, offsets by time."""

import pytest

from log_kit import (
    NOW_MS,
    ORDERS,
    append,
    batch,
    flush,
    new_log,
    open_directory,
    segment_starts,
    stored_batches,
    stored_records,
)
from moldau.core.chunks import FileSlice
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.records.batch import Compression, read_header
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log.time_query import OffsetAndTime, find_by_time, find_youngest, freeze
from moldau.storage.log_config import LogConfig
from moldau.testing.simulation.crash_disk import CrashDisk

CONFIG = LogConfig(segment_bytes=1000, index_interval_bytes=200)


def filled(batches: int = 20, config: LogConfig = CONFIG) -> PartitionLog:
    """Batches of three records, a millisecond apart."""
    _, log = new_log(CrashDisk(), config)
    for number in range(batches):
        append(log, batch(3, value=bytes(40), timestamp=NOW_MS + number))
    return log


def read(
    log: PartitionLog,
    offset: int,
    bytes_max: int = 1 << 20,
    *,
    end_offset: int | None = None,
    at_least_one: bool = True,
) -> FileSlice | None:
    end = log.high_watermark if end_offset is None else end_offset
    return log.read(offset, bytes_max, end_offset=end, at_least_one_batch=at_least_one)


def test_every_offset_finds_the_whole_batch_that_holds_it() -> None:
    log = filled()
    assert len(log.segments.all) > 3
    for offset in range(log.end_offset):
        found = read(log, offset)
        assert found is not None
        assert read_header(found.read()).base_offset == offset - offset % 3


def test_the_same_from_files_alone() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk, CONFIG)
    for _ in range(20):
        append(log, batch(3, value=bytes(40)))
    expected = stored_batches(log)
    directory.close()
    (reopened,) = open_directory(disk, CONFIG).logs.values()
    assert stored_batches(reopened) == expected
    for offset in range(reopened.end_offset):
        found = read(reopened, offset)
        assert found is not None
        assert read_header(found.read()).base_offset == offset - offset % 3


def test_outside_of_the_log() -> None:
    log = filled()
    log.delete_records_before(10)
    for offset in (9, log.end_offset + 1, -1):
        with pytest.raises(ApiError) as raised:
            read(log, offset)
        assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert read(log, log.end_offset) is None
    assert log.available_bytes(log.end_offset, log.end_offset, 100) == 0


def test_nothing_at_or_above_the_end_offset_is_given() -> None:
    log = filled()
    assert [record.offset for record in stored_records(log)][-1] == log.end_offset - 1
    found = read(log, 3, end_offset=6)
    assert found is not None
    assert read_header(found.read()).base_offset == 3
    assert found.size == read_header(found.read()).size
    assert read(log, 6, end_offset=6) is None
    assert log.available_bytes(3, 6, 1 << 20) == found.size


def test_a_bound_cuts_but_never_below_one_batch_when_one_is_asked_for() -> None:
    log = filled(config=LogConfig(segment_bytes=1000))  # Short batches: not in the index.
    whole = read(log, 0)
    assert whole is not None
    first = read_header(whole.read()).size
    cut = read(log, 0, first + 10)
    assert cut is not None
    assert cut.size == first + 10
    assert read(log, 0, first - 1, at_least_one=False) is None
    one = read(log, 0, first - 1)
    assert one is not None
    assert one.size == first
    assert log.available_bytes(0, log.high_watermark, 50) == 50


def long_batches() -> tuple[PartitionLog, int]:
    """Ten batches, each long enough to be in the index, and the size of one."""
    _, log = new_log(CrashDisk(), LogConfig(index_interval_bytes=200))
    for _ in range(10):
        append(log, batch(1, value=bytes(300)))
    return log, log.segments.active.size // 10


def test_a_long_batch_that_does_not_fit_is_not_begun() -> None:
    log, size = long_batches()
    for bytes_max, whole in ((size, 1), (2 * size - 1, 1), (2 * size, 2), (9 * size + 50, 9)):
        found = read(log, 0, bytes_max)
        assert found is not None
        assert found.size == whole * size
    behind = read(log, 4, 3 * size + 1)
    assert behind is not None
    assert (behind.position, behind.size) == (4 * size, 3 * size)


def test_an_index_that_names_no_batch_cannot_hold_a_reader_up() -> None:
    log, size = long_batches()
    entries = log.segments.active.offset_index.entries()
    for slot in range(len(entries) // 8):
        entries[slot * 8 + 4 : slot * 8 + 8] = (7).to_bytes(4, "big")
    found = read(log, 0, 2 * size + 10)
    assert found is not None
    assert found.size == 2 * size + 10


def test_a_slice_outlives_the_segment_it_was_cut_from() -> None:
    log = filled(config=LogConfig(segment_bytes=1000, index_interval_bytes=200, retention_bytes=1))
    found = read(log, 0)
    assert found is not None
    before = found.read()
    for retired in log.apply_retention(NOW_MS):
        retired.remove()
    assert log.start_offset > 0
    assert found.read() == before


def test_few_open_files_serve_many_segments() -> None:
    disk = CrashDisk()
    directory = open_directory(disk, CONFIG, open_files_max=2)
    log = directory.create_log(("t", 0), None, CONFIG, now_ms=NOW_MS)  # type: ignore[arg-type]
    for _ in range(40):
        append(log, batch(3, value=bytes(40)))
    assert len(log.segments.all) > 5
    for _ in range(2):
        assert [record.offset for record in stored_records(log)] == list(range(120))
    assert sum(segment._file is not None for segment in log.segments.all) <= 2


def test_an_index_that_leads_nowhere_costs_a_longer_search_and_nothing_else() -> None:
    log = filled()
    segment = log.segments.all[0]
    segment._boundaries = segment._older_boundaries = None
    entries = segment.offset_index.entries()
    entries[4:8] = (123).to_bytes(4, "big")
    for offset in range(log.segments.all[1].base_offset):
        found = read(log, offset)
        assert found is not None
        assert read_header(found.read()).base_offset == offset - offset % 3


def test_offsets_by_time() -> None:
    log = filled()
    assert log.find_offset_by_time(0) == OffsetAndTime(0, NOW_MS, 0)
    for number in range(20):
        assert log.find_offset_by_time(NOW_MS + number) == OffsetAndTime(number * 3, NOW_MS + number, 0)
    assert log.find_offset_by_time(NOW_MS + 20) is None
    log.delete_records_before(10)
    assert log.find_offset_by_time(0) == OffsetAndTime(10, NOW_MS + 3, 0)


@pytest.mark.parametrize("compression", Compression)
def test_the_record_inside_a_batch_is_found(compression: Compression) -> None:
    _, log = new_log(CrashDisk())
    times = [50, 10, 70, 70, 30]
    records = [Record(offset, NOW_MS + time, b"k", b"v") for offset, time in enumerate(times)]
    append(log, memoryview(build_batch(records, compression=compression)), epoch=4)
    assert log.find_offset_by_time(NOW_MS + 60) == OffsetAndTime(2, NOW_MS + 70, 4)
    assert log.find_offset_by_time(NOW_MS + 20) == OffsetAndTime(0, NOW_MS + 50, 4)
    assert log.find_max_timestamp() == OffsetAndTime(2, NOW_MS + 70, 4)


def test_the_youngest_record_may_be_anywhere() -> None:
    _, log = new_log(CrashDisk(), CONFIG)
    assert log.find_max_timestamp() is None
    for number in range(30):
        append(log, batch(3, value=bytes(40), timestamp=NOW_MS + (1000 if number == 11 else number)))
    assert log.find_max_timestamp() == OffsetAndTime(33, NOW_MS + 1000, 0)
    flush(log)
    assert log.find_offset_by_time(NOW_MS + 500) == OffsetAndTime(33, NOW_MS + 1000, 0)
    assert log.find_offset_by_time(NOW_MS + 11) == OffsetAndTime(33, NOW_MS + 1000, 0)


def test_a_question_of_time_survives_retention() -> None:
    _, log = new_log(CrashDisk(), LogConfig(segment_bytes=1000, index_interval_bytes=200, retention_bytes=1))
    for number in range(20):
        append(log, batch(3, value=bytes(40), timestamp=NOW_MS + (1000 if number == 1 else number)))
    asked = freeze(log.segments.all)
    for retired in log.apply_retention(NOW_MS):
        retired.remove()
    start = log.start_offset
    assert segment_starts(log)[0] == start > 3
    assert find_by_time(asked, 0, 0) == OffsetAndTime(start, NOW_MS + start // 3, 0)
    assert find_youngest(asked, 0) == OffsetAndTime(57, NOW_MS + 19, 0)


def test_a_question_of_time_survives_the_deletion_of_the_log() -> None:
    directory, log = new_log(CrashDisk(), CONFIG)
    append(log, batch())
    asked = freeze(log.segments.all)
    directory.delete_log(ORDERS).run()
    assert find_by_time(asked, 0, 0) is None
    assert find_youngest(asked, 0) is None
