"""A record that fails leaves nothing behind: in no branch, no store, no output, no schedule, nor in the time."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.pipeline.operators.records import Columns, Outputs
from moldau.pipeline.operators.task import DoesNotReturn, ProcessingError, Task
from moldau.pipeline.streams import (
    INT,
    LONG,
    STRING,
    PunctuationType,
    Record,
    StreamsBuilder,
    Topology,
    sessions,
    sliding,
    tumbling,
    within,
)

Row = tuple[str, str, int]


def columns(topic: str, rows: list[Row], first: int = 0) -> Columns:
    return Columns(
        topic,
        0,
        range(first, first + len(rows)),
        [time_ms for _, _, time_ms in rows],
        [key.encode() for key, _, _ in rows],
        [value.encode() for _, value, _ in rows],
    )


def task_of(topology: Topology, **options: Any) -> Task:
    return Task(topology, topology.whole, 0, on_error="dead_letter", **options)


def refuses_bad(value: str) -> str:
    if value.startswith("bad"):
        raise ValueError(value)
    return value


def every_store() -> Topology:
    """A branch of each kind of state, and last one in which bad records fail."""
    builder = StreamsBuilder(value=STRING)
    stream, other = builder.stream("in"), builder.stream("other")
    grouped = stream.group_by_key()
    grouped.count(store="counts").to_stream().to("counted", value=LONG)
    grouped.windowed_by(tumbling(10, grace_ms=5)).count(store="windows").suppress().to_stream().to("final")
    grouped.windowed_by(sliding(10, grace_ms=5)).reduce(max, store="sliding").to_stream().to("slid")
    grouped.windowed_by(sessions(5, grace_ms=5)).emit_on_close().count(store="sessions").to_stream().to(
        "told"
    )
    stream.outer_join(other, lambda one, two: f"{one}+{two}", windows=within(5)).to("joined")
    rates = stream.to_table(store="rates", history_ms=50)
    other.join(rates, lambda one, two: f"{one}@{two}", grace_ms=4).to("rated")
    stream.map_values(refuses_bad).to("checked")
    return builder.build()


def everything(task: Task) -> list[tuple[str, bytes, bytes]]:
    return sorted(task.state.items())


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "bad", "z"]), st.integers(0, 120)),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(batches=st.lists(st.tuples(rows, rows), min_size=1, max_size=3))
def test_what_fails_is_as_if_it_had_not_come(batches: list[tuple[list[Row], list[Row]]]) -> None:
    topology = every_store()
    with_bad, without = task_of(topology), task_of(topology)
    collapsed = task_of(topology, collapse=True)
    for number, (mine, others) in enumerate(batches):
        first = 100 * number
        good = [row for row in mine if row[1] != "bad"]
        outputs = with_bad.apply([columns("in", mine, first), columns("other", others)], 0)
        # The merge sees the bad ones, so the same order is fed to the other task one by one.
        expected = Outputs()
        for topic, row in in_order(mine, others):
            if row[1] != "bad" or topic == "other":
                expected.add(without.apply([columns(topic, [row])], 0))
        assert outputs.records == expected.records
        assert everything(with_bad) == everything(without)
        assert len(outputs.dead) == len(mine) - len(good)
        assert [dead.offset for dead in outputs.dead] == [
            first + at for at, row in enumerate(mine) if row[1] == "bad"
        ]
        collapsed.apply([columns("in", mine, first), columns("other", others)], 0)
        for store in ("counts", "windows", "sessions", "rates"):
            assert sorted(collapsed.state.stores[store].items()) == sorted(
                with_bad.state.stores[store].items()
            )


def in_order(mine: list[Row], others: list[Row]) -> list[tuple[str, Row]]:
    queues = [("in", list(mine)), ("other", list(others))]
    taken = []
    while any(queue for _, queue in queues):
        topic, queue = min((one for one in queues if one[1]), key=lambda one: one[1][0][2])
        taken.append((topic, queue.pop(0)))
    return taken


def changes_as_told(task: Task, copy: Task) -> None:
    copy.state.load(task.state.take_changes())
    assert everything(copy) == everything(task)


def test_what_was_taken_back_is_not_told_as_a_change() -> None:
    topology = every_store()
    task, copy = task_of(topology), task_of(topology)
    dice = random.Random(3)
    for start in range(0, 400, 40):
        batch = [
            (dice.choice("abc"), dice.choice(["x", "y", "bad"]), start + dice.randrange(45))
            for _ in range(30)
        ]
        task.apply([columns("in", batch), columns("other", batch[::3])], 0)
        changes_as_told(task, copy)


def counted_in_two_branches(check: Callable[[str], str]) -> Topology:
    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.group_by_key().count(store="counts").to_stream().to("counted", value=LONG)
    stream.to("copied")
    stream.map_values(check).to("checked")
    return builder.build()


@pytest.mark.parametrize("collapse", [False, True])
def test_a_dead_letter_can_be_replayed_without_being_counted_twice(collapse: bool) -> None:
    task = task_of(counted_in_two_branches(refuses_bad), collapse=collapse)
    batch = [("a", "x", 1), ("a", "bad1", 9), ("b", "bad2", 3), ("a", "y", 4)]
    outputs = task.apply([columns("in", batch)], 0)
    assert [(dead.offset, dead.reason) for dead in outputs.dead] == [
        (1, "ValueError: bad1"),
        (2, "ValueError: bad2"),
    ]
    assert [one.value for one in outputs.records if one.topic == "copied"] == [b"x", b"y"]
    counts = {key: value[-1] for key, value in task.state.stores["counts"].items()}
    assert counts == {b"a": 2}
    assert task.state.times["stream time"] == 4, "a record that failed does not move time on"


def test_each_failure_is_told_once_and_functions_are_given_what_is_left_of_the_batch() -> None:
    calls: list[str] = []

    def check(value: str) -> str:
        calls.append(value)
        return refuses_bad(value)

    task = task_of(counted_in_two_branches(check))
    outputs = task.apply([columns("in", [("a", "x", 1), ("a", "bad", 2), ("a", "y", 3)])], 0)
    assert len(outputs.dead) == 1
    assert calls == ["x", "bad", "x", "y"], "what is known to fail is not tried again"


def test_without_stores_only_what_failed_is_cut_out() -> None:
    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.to("copied")
    stream.map_values(refuses_bad).to("checked")
    outputs = task_of(builder.build()).apply(
        [columns("in", [("a", "x", 1), ("a", "bad", 2), ("a", "y", 3), ("a", "bad", 4)])], 0
    )
    assert [one.value for one in outputs.records] == [b"x", b"x", b"y", b"y"]
    assert [dead.offset for dead in outputs.dead] == [1, 3]


def test_a_batch_that_stops_the_task_leaves_the_state_as_it_was() -> None:
    topology = counted_in_two_branches(refuses_bad)
    task = Task(topology, topology.whole, 0)
    task.apply([columns("in", [("a", "x", 1)])], 0)
    before = everything(task)
    with pytest.raises(ProcessingError, match="in-0 at offset 1 could not be processed: ValueError: bad"):
        task.apply([columns("in", [("a", "x", 5), ("a", "bad", 6)])], 0)
    assert everything(task) == before


@pytest.mark.parametrize("collapse", [False, True])
def test_a_failure_after_an_aggregate_takes_the_record_out_of_it(collapse: bool) -> None:
    def odd(count: int) -> str:
        if count == 2:
            raise ValueError("two")
        return str(count)

    builder = StreamsBuilder(value=STRING)
    counts = builder.stream("in").group_by_key().count(store="counts")
    counts.to_stream().map_values(odd, value=STRING).to("out")
    task = task_of(builder.build(), collapse=collapse)
    outputs = task.apply([columns("in", [("a", "x", 1), ("a", "y", 2), ("b", "z", 3)])], 0)
    assert [(dead.offset, dead.value) for dead in outputs.dead] == [(1, b"y")]
    assert [(one.key, one.value) for one in outputs.records] == [(b"a", b"1"), (b"b", b"1")]
    assert {key: value[-1] for key, value in task.state.stores["counts"].items()} == {b"a": 1, b"b": 1}


def test_what_was_held_back_fails_for_itself_and_not_for_the_record_that_let_it_go() -> None:
    def not_three(count: int) -> str:
        if count == 3:
            raise ValueError("three")
        return str(count)

    builder = StreamsBuilder(value=STRING)
    windows = builder.stream("in").group_by_key().windowed_by(tumbling(10))
    final = windows.count(store="counts").suppress(name="final")
    final.to_stream(lambda windowed, count: windowed.key).map_values(not_three, value=STRING).to("out")
    task = task_of(builder.build())
    batch = [("a", "x", 1), ("a", "x", 2), ("a", "x", 3), ("b", "x", 4), ("c", "x", 15), ("c", "x", 25)]
    outputs = task.apply([columns("in", batch)], 0)
    assert [(one.key, one.value) for one in outputs.records] == [(b"b", b"1"), (b"c", b"1")]
    (dead,) = outputs.dead
    assert (dead.topic, dead.offset, dead.timestamp_ms) == ("final", -1, 3)
    assert dead.reason == "ValueError: three" and dead.key is not None and dead.key.startswith(b"a")
    assert len(task.state.stores["final-store"]) == 1, "what failed is not held any longer"


def test_a_function_that_does_not_return_fails_its_record() -> None:
    interrupted: list[str] = []

    def hangs(value: str) -> str:
        if value == "hang":
            interrupted.append(value)
            try:
                raise DoesNotReturn("not back after 30 s")  # as the host raises it, from outside
            except Exception:  # noqa: BLE001 a function that hangs on to life
                return "still here"
        return value

    task = task_of(counted_in_two_branches(hangs))
    outputs = task.apply([columns("in", [("a", "x", 1), ("a", "hang", 2), ("a", "y", 3)])], 0)
    assert [(dead.offset, dead.reason) for dead in outputs.dead] == [
        (1, "DoesNotReturn: not back after 30 s")
    ]
    assert {key: value[-1] for key, value in task.state.stores["counts"].items()} == {b"a": 2}
    assert interrupted == ["hang"], "it is not waited for twice"


def test_a_host_can_see_what_is_in_process() -> None:
    seen: list[tuple[str, int, int]] = []
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").foreach(lambda key, value: seen.append(task.current))
    task = task_of(builder.build())
    task.apply([columns("in", [("a", "x", 1), ("a", "y", 2)], first=7)], 0)
    assert seen == [("in", 0, 7), ("in", 0, 8)]
    assert task.current == ("", -1, -1)


def test_two_sources_of_one_topic_fail_together() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").group_by_key().count(store="counts").to_stream().to("counted", value=LONG)
    builder.stream("in").map_values(refuses_bad).to("checked")
    builder.stream("in", timestamp=lambda value, time_ms: time_ms + 1).map_values(refuses_bad).to("later")
    task = task_of(builder.build())
    outputs = task.apply([columns("in", [("a", "x", 1), ("a", "bad", 2), ("a", "y", 3)])], 0)
    assert [dead.offset for dead in outputs.dead] == [1]
    assert sorted(one.topic for one in outputs.records) == [
        "checked",
        "checked",
        "counted",
        "counted",
        "later",
        "later",
    ]
    assert {key: value[-1] for key, value in task.state.stores["counts"].items()} == {b"a": 2}


def test_a_record_that_one_of_two_sources_cannot_read_reaches_neither() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").to("copied")
    builder.stream("in", value=LONG).to("numbers", value=LONG)
    builder.stream("in", value=INT).to("more", value=INT)
    outputs = task_of(builder.build()).apply([columns("in", [("a", "12345678", 1), ("a", "no", 2)])], 0)
    assert [dead.offset for dead in outputs.dead] == [0, 1]
    assert outputs.records == []


def test_a_schedule_of_a_record_that_failed_is_gone() -> None:
    class Schedules:
        def init(self, context: Any) -> None:
            self.context = context

        def process(self, record: Record) -> None:
            self.context.schedule(10, PunctuationType.WALL_CLOCK_TIME, self.tick)
            refuses_bad(record.value)

        def tick(self, now_ms: int) -> None:
            self.context.forward(Record("tick", str(now_ms), now_ms))

    builder = StreamsBuilder(value=STRING)
    builder.stream("in").process(Schedules).to("out")
    task = task_of(builder.build())
    task.apply([columns("in", [("a", "bad", 1)])], 0)
    assert task.next_wall_clock_due_ms() is None
