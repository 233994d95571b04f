"""Partitions merged by time."""

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.sql.queries.time_merge import HELD_MAX, TimeMerge

A, B = ("a", 0), ("b", 0)


def columns(topic: str, first: int, *times: int) -> Columns:
    count = len(times)
    return Columns(topic, 0, list(range(first, first + count)), list(times), [None] * count, [None] * count)


def times(batch: list[Columns]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for one in batch:
        found.setdefault(one.topic, []).extend(one.timestamps_ms)
    return found


def test_records_wait_for_a_partition_that_may_have_older_ones() -> None:
    merge = TimeMerge([A, B])
    merge.add([columns("a", 0, 10, 20, 30)], {})
    assert merge.released() == []
    merge.add([columns("b", 0, 15)], {})
    assert times(merge.released()) == {"a": [10], "b": [15]}
    merge.add([columns("b", 1, 25)], {})
    assert times(merge.released()) == {"a": [20], "b": [25]}


def test_the_end_of_a_partition_lets_the_others_go() -> None:
    merge = TimeMerge([A, B])
    merge.add([columns("a", 0, 10, 20)], {A: 2})
    assert merge.passed_ends() == {}
    merge.add([], {B: 0})
    assert times(merge.released()) == {"a": [10, 20]}
    assert merge.passed_ends() == {A: 2, B: 0}


def test_a_late_record_stays_behind_those_before_it() -> None:
    merge = TimeMerge([A, B])
    merge.add([columns("a", 0, 50, 5, 60), columns("b", 0, 20)], {})
    assert times(merge.released()) == {"b": [20]}
    merge.add([columns("b", 1, 55)], {})
    assert times(merge.released()) == {"a": [50, 5], "b": [55]}


def test_a_partition_far_ahead_is_named() -> None:
    merge = TimeMerge([A, B])
    merge.add([columns("a", 0, *range(HELD_MAX + 1))], {})
    assert merge.too_far_ahead() == {A}
    merge.add([], {B: 0})
    merge.released()
    assert merge.too_far_ahead() == set()
