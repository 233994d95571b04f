"""When a log rolls, what retention removes, and when data is flushed."""

import pytest

from log_kit import NOW_MS, append, batch, flush, new_log, open_directory, segment_starts, stored_records
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log.retention import LogBounds, plan_retention
from moldau.storage.log_config import LogConfig
from moldau.testing.simulation.crash_disk import CrashDisk

HOUR_MS = 3_600_000


def log_with(config: LogConfig) -> PartitionLog:
    return new_log(CrashDisk(), config)[1]


def test_by_size() -> None:
    size = len(batch())
    log = log_with(LogConfig(segment_bytes=size * 3))
    for _ in range(7):
        append(log, batch())
    assert segment_starts(log) == [0, 3, 6]


def test_by_the_age_of_records() -> None:
    log = log_with(LogConfig(segment_ms=1000))
    for timestamp in (0, 1000, 400, 1001, 2001, 2002):
        append(log, batch(timestamp=NOW_MS + timestamp), now_ms=NOW_MS)
    assert segment_starts(log) == [0, 3, 5]


def test_by_our_time_where_records_have_none() -> None:
    log = log_with(LogConfig(segment_ms=1000))
    for now_ms in (0, 1000, 1001, 1500):
        append(log, batch(timestamp=-1), now_ms=NOW_MS + now_ms)
    assert segment_starts(log) == [0, 2]


def test_the_first_record_sets_the_age_after_a_restart_too() -> None:
    disk = CrashDisk()
    config = LogConfig(segment_ms=1000)
    directory, log = new_log(disk, config)
    append(log, batch(timestamp=NOW_MS))
    directory.close()
    (log,) = open_directory(disk, config).logs.values()
    append(log, batch(timestamp=NOW_MS + 1000))
    append(log, batch(timestamp=NOW_MS + 1001))
    assert segment_starts(log) == [0, 2]


def test_jitter_brings_the_roll_forward_by_the_same_time_in_every_run() -> None:
    config = LogConfig(segment_ms=10_000, segment_jitter_ms=5000)
    jitters = {log_with(config).segments.active.jitter_ms for _ in range(3)}
    assert len(jitters) == 1
    assert 0 <= jitters.pop() < 5000


def test_by_a_full_index() -> None:
    log = log_with(LogConfig(index_interval_bytes=1, segment_index_bytes=80))
    for _ in range(30):
        append(log, batch())
    assert max(len(segment.offset_index) for segment in log.segments.all) <= 10
    assert segment_starts(log) == [0, 11, 22]


def test_compacted_topics_roll_in_time_for_the_compaction_lag() -> None:
    log = log_with(LogConfig(compact=True, max_compaction_lag_ms=500))
    append(log, batch(timestamp=NOW_MS))
    append(log, batch(timestamp=NOW_MS + 501))
    assert segment_starts(log) == [0, 1]


def test_a_changed_setting_holds_for_the_next_batch() -> None:
    log = log_with(LogConfig())
    append(log, batch())
    log.config = LogConfig(segment_bytes=len(batch()))
    append(log, batch())
    assert segment_starts(log) == [0, 1]


def three_segments(**settings: int) -> PartitionLog:
    """Three segments of 5 batches each: an hour old, half an hour old, and new."""
    log = log_with(LogConfig(segment_bytes=len(batch()) * 5, **settings))  # type: ignore[arg-type]
    for number in range(15):
        append(log, batch(timestamp=NOW_MS - HOUR_MS + number // 5 * HOUR_MS // 2))
    assert segment_starts(log) == [0, 5, 10]
    return log


def test_time_takes_whole_segments_from_the_front() -> None:
    log = three_segments(retention_ms=HOUR_MS // 2)
    (retired,) = log.apply_retention(NOW_MS)
    assert retired.base_offset == 0
    assert f"retention time {HOUR_MS // 2}ms breach" in retired.reason
    assert log.start_offset == 5
    assert [record.offset for record in stored_records(log)] == list(range(5, 15))


def test_an_old_log_is_emptied_and_keeps_its_end() -> None:
    log = three_segments(retention_ms=1000)
    retired = log.apply_retention(NOW_MS + HOUR_MS)
    assert [each.base_offset for each in retired] == [0, 5, 10]
    assert (log.start_offset, log.end_offset) == (15, 15)
    assert segment_starts(log) == [15]
    assert append(log, batch()).base_offset == 15
    assert log.apply_retention(NOW_MS) == []


def test_size_keeps_at_least_what_was_asked_for() -> None:
    size = len(batch())
    assert (
        three_segments(retention_bytes=size * 10, retention_ms=-1).apply_retention(NOW_MS)[0].base_offset == 0
    )
    assert three_segments(retention_bytes=size * 11, retention_ms=-1).apply_retention(NOW_MS) == []
    retired = three_segments(retention_bytes=size * 5, retention_ms=-1).apply_retention(NOW_MS)
    assert [each.base_offset for each in retired] == [0, 5]
    assert all("retention size" in each.reason for each in retired)


def test_nothing_above_the_high_watermark_goes() -> None:
    log = log_with(LogConfig(segment_bytes=len(batch()) * 5, retention_ms=1000))
    for _ in range(15):
        log.append_as_leader(batch(timestamp=1), leader_epoch=0, now_ms=NOW_MS)
    log.advance_high_watermark(7)
    assert [each.base_offset for each in log.apply_retention(NOW_MS)] == [0]


def test_compact_alone_deletes_only_what_lies_before_the_start() -> None:
    log = three_segments(retention_ms=1)
    log.config = LogConfig(compact=True, delete=False, retention_ms=1)
    assert log.apply_retention(NOW_MS + HOUR_MS) == []
    log.delete_records_before(11)
    retired = log.apply_retention(NOW_MS)
    assert [each.base_offset for each in retired] == [0, 5]
    assert all("log start offset 11 breach" in each.reason for each in retired)
    assert next(stored_records(log, 11)).offset == 11


def test_a_plan_stops_at_the_first_segment_that_stays() -> None:
    class Aged:
        def __init__(self, base_offset: int, timestamp_ms: int) -> None:
            self.base_offset, self.size, self._timestamp_ms = base_offset, 10, timestamp_ms

        def largest_timestamp_ms(self) -> int:
            return self._timestamp_ms

    segments = [Aged(0, 0), Aged(10, 5000), Aged(20, 0), Aged(30, 0)]
    reasons = plan_retention(segments, LogBounds(0, 40, 40), LogConfig(retention_ms=1000), 2000)
    assert len(reasons) == 1


def test_files_wait_under_another_name_until_removed() -> None:
    disk = CrashDisk()
    _, log = new_log(disk, LogConfig(segment_bytes=len(batch()) * 5, retention_bytes=1, retention_ms=-1))
    for _ in range(11):
        append(log, batch())
    retired = log.apply_retention(NOW_MS)
    names = set(disk.list(log.directory))
    assert "00000000000000000000.log.deleted" in names
    assert "00000000000000000000.log" not in names
    for each in retired:
        each.remove()
        each.remove()
    assert not [name for name in disk.list(log.directory) if name.endswith(".deleted")]


def test_deleting_records() -> None:
    log = three_segments()
    assert log.delete_records_before(3) == 3
    assert log.delete_records_before(2) == 3
    assert next(stored_records(log, 3)).offset == 3
    for offset in (16, -2):
        with pytest.raises(ApiError) as raised:
            log.delete_records_before(offset)
        assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.delete_records_before(-1) == 15


def test_flushes_are_due_by_count_and_by_time() -> None:
    log = log_with(LogConfig(flush_messages=3, flush_ms=5000))
    append(log, batch(2))
    assert not log.flush_due(NOW_MS)
    assert log.flush_due(NOW_MS + 5000)
    append(log, batch(1))
    assert log.flush_due(NOW_MS)
    flush(log)
    assert log.flush_state.recovery_point == 3
    assert not log.flush_due(NOW_MS + 10_000)
    assert log.begin_flush(NOW_MS) is None


def test_one_flush_at_a_time_and_what_comes_meanwhile_waits_for_the_next() -> None:
    log = log_with(LogConfig(flush_messages=1))
    append(log, batch())
    first = log.begin_flush(NOW_MS)
    assert first is not None
    append(log, batch())
    assert log.begin_flush(NOW_MS) is None
    first.run()
    log.finish_flush(first)
    assert log.flush_state.recovery_point == 1
    assert log.flush_due(NOW_MS)
    flush(log)
    assert log.flush_state.recovery_point == 2


def test_complete_segments_are_flushed_without_the_active_one() -> None:
    log = log_with(LogConfig(segment_bytes=len(batch()) * 2))
    assert not log.flush_state.has_rolled
    for _ in range(3):
        append(log, batch())
    assert log.flush_state.has_rolled
    flush(log, rolled_only=True)
    assert log.flush_state.recovery_point == 2
    assert not log.flush_state.has_rolled
