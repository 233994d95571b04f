"""`Task.advance_time` releases what waits for stream time, as a record of that time would, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from moldau.pipeline.streams import (
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
from moldau.testing import TopologyTestDriver

HIDDEN = "a key nobody has had"


def counted(windows: Any, *, on_close: bool = False) -> Topology:
    builder = StreamsBuilder(value=STRING)
    windowed: Any = builder.stream("in").group_by_key().windowed_by(windows)
    table = (windowed.emit_on_close() if on_close else windowed).count(store="counts")
    told = table if on_close else table.suppress()
    told.to_stream(lambda key, count: f"{key.key} {key.start_ms}").to("out", value=LONG)
    return builder.build()


def suppressed_table() -> Topology:
    builder = StreamsBuilder(value=STRING)
    builder.table("in").suppress(until_ms=50).to_stream().to("out")
    return builder.build()


def outer_join() -> Topology:
    builder = StreamsBuilder(value=STRING)
    left, right = builder.stream("in"), builder.stream("other")
    joined = left.outer_join(right, lambda one, two: f"{one}+{two}", windows=within(20))
    joined.to("out", value=STRING)
    return builder.build()


def waiting_join() -> Topology:
    builder = StreamsBuilder(value=STRING)
    rates = builder.table("other", history_ms=1_000)
    builder.stream("in").left_join(rates, lambda one, two: f"{one}+{two}", grace_ms=30).to(
        "out", value=STRING
    )
    return builder.build()


def ticking() -> Topology:
    class Ticks:
        def init(self, context: Any) -> None:
            self.context = context
            context.schedule(100, PunctuationType.STREAM_TIME, self.tick)

        def process(self, record: Record) -> None:
            """Only time matters here."""

        def tick(self, now_ms: int) -> None:
            self.context.forward(Record("tick", str(now_ms), now_ms))

    builder = StreamsBuilder(value=STRING)
    builder.stream("in").process(Ticks).to("out")
    return builder.build()


def chained() -> Topology:
    """A window closes into an operator that holds back, too."""
    builder = StreamsBuilder(value=STRING)
    final = builder.stream("in").group_by_key().windowed_by(tumbling(50)).count().suppress()
    again = final.to_stream().group_by_key().windowed_by(tumbling(100)).count().suppress()
    again.to_stream(lambda key, count: f"{key.start_ms}").to("out", value=LONG)
    return builder.build()


CASES: dict[str, Callable[[], Topology]] = {
    "suppressed tumbling": lambda: counted(tumbling(50, grace_ms=10)),
    "suppressed sliding": lambda: counted(sliding(50, grace_ms=10)),
    "suppressed sessions": lambda: counted(sessions(50, grace_ms=10)),
    "tumbling told on close": lambda: counted(tumbling(50, grace_ms=10), on_close=True),
    "sliding told on close": lambda: counted(sliding(50, grace_ms=10), on_close=True),
    "sessions told on close": lambda: counted(sessions(50, grace_ms=10), on_close=True),
    "suppressed table": suppressed_table,
    "outer join": outer_join,
    "join with grace": waiting_join,
    "punctuation": ticking,
}


def fed(topology: Topology) -> TopologyTestDriver:
    driver = TopologyTestDriver(topology)
    driver.pipe_all("in", [("a", "1", 60), ("a", "2", 61), ("b", "3", 90), ("a", "4", 75)])
    driver.read("out")
    return driver


def without_hidden(written: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return [(key, value) for key, value in written if not str(key).startswith(HIDDEN)]


@pytest.mark.parametrize("case", CASES)
def test_time_passes_as_if_a_record_had_come(case: str) -> None:
    topology = CASES[case]()
    advanced, piped = fed(topology), fed(topology)
    advanced.advance_stream_time(1_000)
    piped.pipe("in", HIDDEN, "x", 1_000)
    told = advanced.read("out")
    assert told and told == without_hidden(piped.read("out"))
    advanced.advance_stream_time(900)
    assert advanced.read("out") == [], "time does not go back"
    for driver in (advanced, piped):
        driver.pipe_all("in", [("a", "late", 70), ("c", "new", 1_005), ("c", "newer", 3_000)])
    assert advanced.read("out") == without_hidden(piped.read("out"))


@pytest.mark.parametrize("case", CASES)
def test_the_time_moves_with_the_state(case: str) -> None:
    topology = CASES[case]()
    stays = fed(topology)
    stays.advance_stream_time(1_000)
    stays.read("out")
    moved = TopologyTestDriver(topology)
    moved.restore(stays.snapshot())
    for driver in (stays, moved):
        driver.pipe_all("in", [("a", "late", 70), ("c", "new", 1_005)])
        driver.advance_stream_time(5_000)
    assert moved.read("out") == stays.read("out")


def test_what_closes_flows_into_what_waits_downstream() -> None:
    driver = fed(chained())
    driver.advance_stream_time(1_000)
    assert driver.read("out") == [("0", 1), ("0", 1)]


def test_who_waits_for_time() -> None:
    def waits(topology: Topology) -> bool:
        return TopologyTestDriver(topology)._task.waits_for_time

    assert all(waits(make()) for make in CASES.values())
    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.group_by_key().windowed_by(tumbling(10)).count()
    stream.join(builder.stream("other"), lambda one, two: one, windows=within(5))
    assert not waits(builder.build())


def test_a_window_that_fails_when_it_closes_is_a_dead_letter() -> None:
    builder = StreamsBuilder(value=STRING)
    final = builder.stream("in").group_by_key().windowed_by(tumbling(50)).count().suppress(name="final")
    final.to_stream(lambda key, count: key.key).map_values(lambda count: 1 // (count - 3), value=LONG).to(
        "out"
    )
    driver = TopologyTestDriver(builder.build(), on_error="dead_letter")
    driver.pipe_all("in", [("a", "1", 60), ("a", "2", 61), ("b", "3", 90), ("a", "4", 75)])
    driver.advance_stream_time(1_000)
    assert driver.read("out") == [("b", -1)]
    assert [(dead.topic, dead.offset) for dead in driver.dead] == [("final", -1)]
