"""What operators drop is counted by node and reason, with how late the latest was."""

from typing import Any

import pytest

from moldau.pipeline.operators.records import EXPIRED, LATE, NULL_KEY, NULL_VALUE, Columns, Dropped
from moldau.pipeline.operators.task import Task
from moldau.pipeline.streams import (
    STRING,
    Record,
    StreamsBuilder,
    hopping,
    sessions,
    sliding,
    tumbling,
    within,
)
from moldau.testing import TopologyTestDriver

WINDOWS = {
    "tumbling": (tumbling(10, grace_ms=5), 1),
    "hopping": (hopping(10, 5, grace_ms=5), 2),
    "sliding": (sliding(10, grace_ms=5), 1),
    "sessions": (sessions(10, grace_ms=5), 1),
}


@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("kind", WINDOWS)
def test_late_and_keyless_records_of_windows(kind: str, collapse: bool) -> None:
    windows, per_record = WINDOWS[kind]
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").group_by_key().windowed_by(windows).count(name="counts")  # type: ignore[arg-type]
    topology = builder.build()
    task = Task(topology, topology.whole, 0, collapse=collapse)
    times = [1_000, 20, 900, 1_000, 3]
    keys = [b"k", b"k", b"k", None, b"k"]
    batch = Columns("in", 0, range(5), times, keys, [b"v"] * 5)
    dropped = task.apply([batch], 0).dropped
    late = sum(per_record if time_ms >= 5 or kind != "hopping" else 1 for time_ms in (20, 900, 3))
    assert dropped == {("counts", LATE): Dropped(late, 997), ("counts", NULL_KEY): Dropped(1)}


def run(builder: StreamsBuilder, *rows: tuple[Any, ...]) -> dict[tuple[str, str], Dropped]:
    driver = TopologyTestDriver(builder.build())
    for topic, key, value, timestamp_ms in rows:
        driver.pipe(topic, key, value, timestamp_ms)
    return driver.dropped


def test_aggregates_and_tables() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").group_by_key().count(name="counts")
    builder.table("table", name="rows", store="rows")
    builder.table("history", name="versions", history_ms=10)
    dropped = run(
        builder,
        ("in", None, "v", 1),
        ("in", "k", None, 1),
        ("table", None, "v", 1),
        ("history", "k", "v", 100),
        ("history", "k", "v", 50),
        ("history", None, "v", 50),
    )
    assert dropped == {
        ("counts", NULL_KEY): Dropped(1),
        ("counts", NULL_VALUE): Dropped(1),
        ("rows", NULL_KEY): Dropped(1),
        ("versions", EXPIRED): Dropped(1, 50),
        ("versions", NULL_KEY): Dropped(1),
    }


def test_joins() -> None:
    builder = StreamsBuilder(value=STRING)
    left, right = builder.stream("left"), builder.stream("right")
    left.join(right, lambda one, two: one, windows=within(10), name="both")
    left.left_join(builder.table("table"), lambda one, two: one, name="row")
    dropped = run(
        builder,
        ("left", None, "v", 1),
        ("left", "k", None, 1),
        ("right", "k", "v", 1_000),
        ("left", "k", "v", 1_000),
        ("left", "k", "v", 5),
    )
    nodes = {node for node, _ in dropped}
    (both,) = nodes - {"row"}
    assert dropped == {
        (both, NULL_KEY): Dropped(1),
        (both, NULL_VALUE): Dropped(1),
        (both, LATE): Dropped(1, 995),
        ("row", NULL_VALUE): Dropped(1),
    }


def test_records_without_a_key_on_their_way_to_a_repartition_topic() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").group_by(lambda key, value: value or None).count()
    dropped = run(builder, ("in", "k", "", 1), ("in", "k", "x", 1))
    ((_, reason),) = dropped
    assert reason == NULL_KEY


def test_what_a_processor_puts_too_late() -> None:
    class Keeps:
        def init(self, context: Any) -> None:
            self.windows, self.versions = context.store("windows"), context.store("versions")

        def process(self, record: Record) -> None:
            self.windows.put(record.key, record.value, record.timestamp_ms)
            self.versions.put(record.key, record.value, record.timestamp_ms)

    builder = StreamsBuilder(value=STRING)
    builder.add_store("windows", window_ms=10, retention_ms=100)
    builder.add_store("versions", history_ms=100)
    builder.stream("in").process(Keeps, stores=["windows", "versions"], name="keeps")
    dropped = run(builder, ("in", "k", "v", 1_000), ("in", "k", "v", 10), ("in", "k", "v", 990))
    assert dropped == {("keeps", EXPIRED): Dropped(2, 990)}


def test_what_a_record_that_failed_dropped_is_not_counted() -> None:
    def check(value: str) -> str:
        if value == "bad":
            raise ValueError(value)
        return value

    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.group_by_key().windowed_by(tumbling(10)).count(name="counts")
    stream.map_values(check)
    driver = TopologyTestDriver(builder.build(), on_error="dead_letter")
    for value, time_ms in (("a", 100), ("bad", 1), ("a", 2)):
        driver.pipe("in", "k", value, time_ms)
    assert driver.dropped == {("counts", LATE): Dropped(1, 98)}
