"""Which log is cleaned, up to which offset, and in which groups."""

from dataclasses import dataclass

from moldau.storage.cleaner.offset_map import ENTRY_BYTES, OffsetMap, digest
from moldau.storage.cleaner.plan import (
    CleanableLog,
    CleaningPlan,
    choose_filthiest,
    group_segments,
    plan_cleaning,
)
from moldau.storage.cleaner.throttle import IoThrottle
from moldau.storage.log_config import LogConfig

NOW = 1_000_000_000
COMPACT = LogConfig(compact=True)


@dataclass
class Piece:
    base_offset: int
    size: int = 100
    youngest_ms: int = NOW - 1000
    oldest_ms: int = NOW - 2000

    def largest_timestamp_ms(self) -> int:
        return self.youngest_ms

    def first_batch_timestamp_ms(self) -> int:
        return self.oldest_ms


def plan(
    *segments: Piece,
    checkpoint: int | None = None,
    start: int = 0,
    stable: int = 1000,
    end: int = 1000,
    config: LogConfig = COMPACT,
) -> CleaningPlan:
    return plan_cleaning(CleanableLog(segments, start, stable, end), config, checkpoint, NOW)


THREE = (Piece(0), Piece(100), Piece(200), Piece(300))


def test_all_but_the_active_segment() -> None:
    seen = plan(*THREE)
    assert (seen.first_dirty_offset, seen.first_uncleanable_offset) == (0, 300)
    assert (seen.clean_bytes, seen.cleanable_bytes, seen.cleanable_ratio) == (0, 300, 1.0)
    assert plan(Piece(0)).cleanable_bytes == 0


def test_what_the_checkpoint_calls_clean() -> None:
    seen = plan(*THREE, checkpoint=200)
    assert (seen.clean_bytes, seen.cleanable_bytes) == (200, 100)
    seen = plan(*THREE, checkpoint=250)
    assert (seen.first_dirty_offset, seen.clean_bytes, seen.cleanable_bytes) == (250, 300, 100)
    for checkpoint in (300, 400):
        assert plan(*THREE, checkpoint=checkpoint).cleanable_bytes == 0


def test_a_checkpoint_outside_the_log_is_replaced() -> None:
    for checkpoint in (5, 1001):
        seen = plan(*THREE, checkpoint=checkpoint, start=50)
        assert (seen.first_dirty_offset, seen.is_checkpoint_wrong) == (50, True)
    assert not plan(*THREE, checkpoint=1000).is_checkpoint_wrong


def test_not_past_the_last_stable_offset() -> None:
    assert plan(*THREE, stable=250).first_uncleanable_offset == 200
    assert plan(*THREE, stable=200).first_uncleanable_offset == 200
    assert plan(*THREE, stable=199).first_uncleanable_offset == 100
    seen = plan(*THREE, stable=50, checkpoint=250)
    assert seen.cleanable_bytes == 0


def test_not_younger_than_the_lag() -> None:
    config = LogConfig(compact=True, min_compaction_lag_ms=5000)
    old = NOW - 6000
    seen = plan(Piece(0, youngest_ms=old), Piece(100), Piece(200, youngest_ms=old), Piece(300), config=config)
    assert seen.first_uncleanable_offset == 100


def test_past_the_longest_lag_a_log_is_due_whatever_its_ratio() -> None:
    config = LogConfig(compact=True, max_compaction_lag_ms=1500, min_cleanable_dirty_ratio=1.0)
    seen = plan(*THREE, checkpoint=200, config=config)
    assert seen.compaction_delay_ms == 500
    assert seen.is_due(config)
    later = LogConfig(compact=True, max_compaction_lag_ms=2500, min_cleanable_dirty_ratio=1.0)
    assert not plan(*THREE, checkpoint=200, config=later).is_due(later)
    assert not plan(*THREE, checkpoint=300, config=config).is_due(config)


def test_the_filthiest_of_those_over_their_ratio() -> None:
    half, most, all_of_it = plan(*THREE, checkpoint=200), plan(*THREE, checkpoint=100), plan(*THREE)
    strict, loose = LogConfig(min_cleanable_dirty_ratio=0.9), LogConfig(min_cleanable_dirty_ratio=0.1)
    assert choose_filthiest([("half", half, strict)]) is None
    assert choose_filthiest([("half", half, loose), ("most", most, strict)]) == ("half", half)
    chosen = choose_filthiest([("half", half, loose), ("all", all_of_it, strict), ("most", most, loose)])
    assert chosen == ("all", all_of_it)


def test_groups_fit_one_segment() -> None:
    config = LogConfig(segment_bytes=250)
    groups = group_segments([Piece(0), Piece(100), Piece(200), Piece(300, size=400), Piece(400)], config, 500)
    assert [[piece.base_offset for piece in group] for group in groups] == [[0, 100], [200], [300], [400]]


def test_groups_fit_one_index() -> None:
    config = LogConfig(index_interval_bytes=10, segment_index_bytes=12 * 20)
    groups = group_segments([Piece(0), Piece(100), Piece(200)], config, 300)
    assert [len(group) for group in groups] == [2, 1]


def test_groups_fit_32_bits_of_offset() -> None:
    far = 2**31
    groups = group_segments([Piece(0), Piece(far - 10), Piece(far + 100)], LogConfig(), far + 200)
    assert [[piece.base_offset for piece in group] for group in groups] == [[0], [far - 10, far + 100]]
    empty = [Piece(0, size=0), Piece(far * 2, size=0)]
    assert len(group_segments(empty, LogConfig(), far * 3)) == 1


def test_the_map_says_when_it_is_full() -> None:
    offsets = OffsetMap(ENTRY_BYTES * 2, 1.0)
    assert offsets.put(b"a", 1) and offsets.put(b"long key" * 10, 2)
    assert not offsets.put(b"c", 3)
    assert offsets.put(b"a", 4)
    assert (offsets.get(b"a"), offsets.get(b"long key" * 10), offsets.get(b"c")) == (4, 2, -1)
    assert (len(offsets), offsets.latest_offset) == (2, 4)


def test_a_key_is_never_taken_for_the_digest_of_another() -> None:
    offsets = OffsetMap(1 << 20, 1.0)
    for key in (b"", b"short", b"x" * 16, b"x" * 32, b"x" * 33, b"x" * 5000):
        offsets.put(key, 5)
        stored = digest(key)
        assert len(stored) <= 32
        if stored != key:
            assert offsets.get(stored) == -1


def test_the_throttle_holds_the_rate() -> None:
    now = [100.0]
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds

    throttle = IoThrottle(1000, monotonic=lambda: now[0], sleep=sleep)
    for _ in range(4):
        throttle.used(500)
    assert sum(naps) == 2.0
    now[0] += 60
    throttle.used(500)
    assert naps[-1] == 0.5
    IoThrottle(float("inf"), monotonic=lambda: now[0], sleep=sleep).used(1 << 40)
    assert len(naps) == 5
