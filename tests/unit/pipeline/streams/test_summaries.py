"""Ready-made aggregates, alone and in sessions that merge."""

from typing import Any

import pytest

from moldau.pipeline.streams import JSON, StreamsBuilder, sessions
from moldau.pipeline.streams.summaries import (
    Summary,
    collect_list,
    collect_set,
    counted,
    earliest,
    highest,
    latest,
    lowest,
    top_k,
    top_k_distinct,
    total,
)
from moldau.testing import TopologyTestDriver

VALUES = [3, None, 1, 3, 2]


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (total("x"), 9.0),
        (lowest("x"), 1),
        (highest("x"), 3),
        (counted("x"), 4),
        (latest("x"), 2),
        (earliest("x"), 3),
        (collect_list("x"), [3, 1, 3, 2]),
        (collect_list("x", at_most=2), [3, 1]),
        (collect_set("x"), [3, 1, 2]),
        (top_k(2, "x"), [3, 3]),
        (top_k_distinct(2, "x"), [3, 2]),
    ],
    ids=lambda one: one.name if isinstance(one, Summary) else "",
)
def test_of_a_stream_and_of_sessions(summary: Summary, expected: Any) -> None:
    builder = StreamsBuilder(value=JSON)
    grouped = builder.stream("in").group_by_key()
    grouped.summarize(summary, store="all")
    grouped.windowed_by(sessions(10, grace_ms=100)).summarize(summary, store="sessions")
    with TopologyTestDriver(builder.build()) as driver:
        for number, value in enumerate(VALUES):
            driver.pipe("in", "k", {"x": value}, 5 * number)
        assert driver.store("all").get("k") == expected
        assert [value for _, value in driver.store("sessions").fetch("k")] == [expected]


def test_sessions_that_merge_late() -> None:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in").group_by_key().windowed_by(sessions(10, grace_ms=100)).summarize(top_k(2), store="s")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe_all("in", [("k", 1, 0), ("k", 9, 20), ("k", 5, 10)])
        assert driver.store("s").fetch("k") == [(("k", 0, 20), [9, 5])]
