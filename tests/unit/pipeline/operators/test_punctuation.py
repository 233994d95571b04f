"""Punctuation as a host sees it: a task that is made, cleared, loaded and run, with input and without."""

from typing import Any

import pytest

from moldau.pipeline.operators.records import SKIPPED, Columns, Outputs
from moldau.pipeline.operators.task import PunctuationError, Task
from moldau.pipeline.streams import (
    LONG,
    STRING,
    ErrorHandlers,
    PunctuationType,
    Record,
    StreamsBuilder,
    Topology,
)
from moldau.testing import TopologyTestDriver

STREAM, WALL = PunctuationType.STREAM_TIME, PunctuationType.WALL_CLOCK_TIME


class Ticking:
    kind = WALL

    def init(self, context: Any) -> None:
        self.context = context
        self.schedule = context.schedule(100, self.kind, self.tick)

    def process(self, record: Record) -> None:
        if record.value == "stop":
            self.schedule.cancel()

    def tick(self, now_ms: int) -> None:
        self.context.forward(Record("tick", str(now_ms), now_ms))


class TickingByStream(Ticking):
    kind = STREAM


def topology_of(supplier: Any, handlers: ErrorHandlers | None = None) -> Topology:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").process(supplier, name="ticking").to("out")
    return builder.build(error_handlers=handlers)


def hosted(topology: Topology, now_ms: int, state: list[tuple[str, bytes, bytes]]) -> Task:
    """As a slot brings a task to life: made, emptied, and given the state of its last batch."""
    task = Task(topology, topology.sub_topologies[0], 0, now_ms=now_ms)
    task.state.clear()
    task.state.load(state)
    return task


def records(*rows: tuple[str, int]) -> list[Columns]:
    times = [time_ms for _, time_ms in rows]
    values = [value.encode() for value, _ in rows]
    return [Columns("in", 0, range(len(rows)), times, [b"k"] * len(rows), values)]


def ticks(outputs: Outputs) -> list[bytes | None]:
    return [one.value for one in outputs.records]


def test_a_schedule_of_init_survives_the_emptied_state() -> None:
    task = hosted(topology_of(Ticking), 1_000, [])
    assert task.next_wall_clock_due_ms() == 1_100
    assert ticks(task.apply(records(("a", 5)), 1_050)) == []
    assert ticks(task.apply([], 1_100)) == [b"1100"]
    assert task.next_wall_clock_due_ms() == 1_200
    assert ticks(task.apply([], 1_475)) == [b"1475"], "a jump over several intervals fires once"
    assert task.next_wall_clock_due_ms() == 1_500


def test_when_it_is_due_moves_with_the_state() -> None:
    topology = topology_of(Ticking)
    task = hosted(topology, 1_000, [])
    task.apply([], 1_130)
    moved = hosted(topology, 5_000, list(task.state.items()))
    assert moved.next_wall_clock_due_ms() == 1_200
    assert ticks(moved.apply([], 5_010)) == [b"5010"]
    assert moved.next_wall_clock_due_ms() == 5_100


def test_stream_time_fires_with_the_first_record_and_then_at_multiples() -> None:
    topology = topology_of(TickingByStream)
    task = hosted(topology, 0, [])
    assert task.next_wall_clock_due_ms() is None
    outputs = task.apply(records(("a", 250), ("a", 260), ("a", 300), ("a", 290), ("a", 730)), 0)
    assert ticks(outputs) == [b"250", b"300", b"730"]
    moved = hosted(topology, 0, list(task.state.items()))
    assert ticks(moved.apply(records(("a", 799), ("a", 800)), 0)) == [b"800"]


@pytest.mark.parametrize("supplier", [Ticking, TickingByStream])
def test_a_schedule_of_init_that_was_cancelled_stays_so(supplier: Any) -> None:
    topology = topology_of(supplier)
    task = hosted(topology, 0, [])
    task.apply(records(("stop", 1)), 1)
    assert ticks(task.apply(records(("a", 500)), 500)) == []
    moved = hosted(topology, 600, list(task.state.items()))
    assert moved.next_wall_clock_due_ms() is None
    assert ticks(moved.apply(records(("a", 900)), 900)) == []


class OneShot:
    """Schedules while it processes; each fires once."""

    def init(self, context: Any) -> None:
        self.context = context

    def process(self, record: Record) -> None:
        def fire(now_ms: int) -> None:
            schedule.cancel()
            self.context.forward(record.with_value(f"{record.value} {now_ms}"))

        schedule = self.context.schedule(50, WALL, fire)


def test_a_schedule_made_while_processing_fires_and_goes() -> None:
    task = hosted(topology_of(OneShot), 0, [])
    task.apply(records(("a", 1)), 10)
    task.apply(records(("b", 2)), 20)
    assert task.next_wall_clock_due_ms() == 60
    assert ticks(task.apply([], 65)) == [b"a 65"]
    assert ticks(task.apply([], 70)) == [b"b 70"]
    assert task.next_wall_clock_due_ms() is None
    assert not [name for name in task.state.times if "punctuation" in name]


def test_a_schedule_made_in_a_batch_fires_in_it() -> None:
    class Late(Ticking):
        def init(self, context: Any) -> None:
            self.context = context

        def process(self, record: Record) -> None:
            if record.value == "start":
                self.context.schedule(100, STREAM, self.tick)

    whole = hosted(topology_of(Late), 0, [])
    rows = [("a", 10), ("start", 20), ("a", 90), ("a", 100), ("a", 101)]
    cut = hosted(topology_of(Late), 0, [])
    pieces = [value for row in rows for value in ticks(cut.apply(records(row), 0))]
    assert ticks(whole.apply(records(*rows), 0)) == pieces == [b"20", b"100"]


def test_a_clock_that_is_set_back_does_not_leave_it_waiting() -> None:
    task = hosted(topology_of(Ticking), 1_000_000, [])
    task.apply([], 1_000_100)
    assert ticks(task.apply([], 500_000)) == []
    assert task.next_wall_clock_due_ms() == 500_100


class Breaks(Ticking):
    def init(self, context: Any) -> None:
        super().init(context)
        self.store = context.store("seen")

    def tick(self, now_ms: int) -> None:
        self.store.put("ticks", now_ms)
        super().tick(now_ms)
        raise KeyError("broken")


def broken(handlers: ErrorHandlers | None) -> Topology:
    builder = StreamsBuilder(value=STRING)
    builder.add_store("seen", value=LONG)
    builder.stream("in").process(Breaks, stores=["seen"], name="breaks").to("out")
    return builder.build(error_handlers=handlers)


@pytest.mark.parametrize("handlers", [None, ErrorHandlers(processing="dead_letter")])
def test_a_punctuation_that_fails_stops_the_task_and_names_the_node(handlers: ErrorHandlers | None) -> None:
    task = hosted(broken(handlers), 0, [])
    with pytest.raises(
        PunctuationError, match=r"a punctuation of breaks failed at 100 ms: KeyError: 'broken'"
    ):
        task.apply([], 100)
    assert len(task.state.stores["seen"]) == 0


def test_a_punctuation_that_fails_can_be_skipped_and_leaves_nothing() -> None:
    task = hosted(broken(ErrorHandlers(processing="skip")), 0, [])
    outputs = task.apply([], 100)
    assert outputs.records == [] and len(task.state.stores["seen"]) == 0
    assert outputs.dropped["breaks", SKIPPED].count == 1
    assert task.next_wall_clock_due_ms() == 200


def test_a_punctuation_is_no_records_doing() -> None:
    class Where(Ticking):
        def tick(self, now_ms: int) -> None:
            place = f"{self.context.topic!r} {self.context.partition} {self.context.offset}"
            self.context.forward(Record("k", place, now_ms))

    with TopologyTestDriver(topology_of(Where)) as driver:
        driver.pipe("in", "k", "v", 7)
        driver.advance_wall_clock(100)
        assert driver.read("out") == [("k", "'' -1 -1")]
