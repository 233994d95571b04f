"""Topologies wired by hand, session, read-only and global stores of processors, and sources by pattern."""

import re
from typing import Any

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.records import EXPIRED, Dropped
from moldau.pipeline.operators.task import ProcessingError
from moldau.pipeline.plan.partitions import settle_partitions
from moldau.pipeline.streams import LONG, STRING, Record, StreamsBuilder, TopologyBuilder, Windowed
from moldau.testing import TopologyTestDriver


class Hosted:
    def init(self, context: Any) -> None:
        self.context = context


class Counts(Hosted):
    def process(self, record: Record) -> None:
        counts = self.context.store("counts")
        count = (counts.get(record.key) or 0) + 1
        counts.put(record.key, count)
        self.context.forward(record.with_value(count), "odd" if count % 2 else "even")


def by_hand() -> TopologyBuilder:
    builder = TopologyBuilder("shop", value=STRING)
    builder.add_source("first", "a").add_source("second", "b", "c")
    builder.add_processor("counts", Counts, "first", "second").add_state_store("counts-store", value=LONG)
    return builder


def test_a_topology_by_hand() -> None:
    builder = TopologyBuilder("shop", value=STRING)
    builder.add_source("first", "a").add_source("second", "b", "c")
    builder.add_processor("count", Counts, "first", "second")
    builder.add_state_store("counts", "count", value=LONG)
    builder.add_sink("odd", "odd-counts", "count", value=LONG)
    builder.add_sink("even", lambda key, value, context: f"even-{key}", "count", value=LONG)
    topology = builder.build()
    assert "Processor: count (process, stores: [counts])" in topology.describe()
    with TopologyTestDriver(topology) as driver:
        for topic in ("a", "b", "c"):
            driver.pipe(topic, "k", "v")
        assert driver.read("odd-counts") == [("k", 1), ("k", 3)]
        assert driver.read("even-k") == [("k", 2)]
        assert driver.store("counts").get("k") == 3


def test_a_sink_of_several_parents() -> None:
    class Passes(Hosted):
        def process(self, record: Record) -> None:
            self.context.forward(record)

    builder = TopologyBuilder(value=STRING)
    builder.add_source("a", "a").add_source("b", "b").add_processor("passes", Passes, "b")
    builder.add_sink("out", "out", "a", "passes")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe("a", "k", "1")
        driver.pipe("b", "k", "2")
        assert driver.read("out") == [("k", "1"), ("k", "2")]


MISTAKES = {
    "no such parent": (
        lambda builder: builder.add_processor("p", Counts, "fist"),
        "'p' has the parent 'fist', which does not exist; did you mean 'first'?",
    ),
    "no parents": (lambda builder: builder.add_sink("s", "out"), "'s' has no parents"),
    "no such processor": (
        lambda builder: builder.add_state_store("s", "nobody"),
        "there is no processor 'nobody' to connect a store to; add it with add_processor() first",
    ),
    "after a sink": (
        lambda builder: builder.add_sink("s", "out", "first").add_sink("t", "out", "s"),
        "'t' cannot follow 's': nothing follows a sink",
    ),
    "a store nobody uses": (lambda builder: builder.build(), "no processor uses the store 'counts-store'"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_by_hand_name_the_line(what: str) -> None:
    mistake, told = MISTAKES[what]
    with pytest.raises(ConfigError, match=re.escape(__file__) + r":\d+: ") as caught:
        mistake(by_hand())
    assert told in str(caught.value)


def test_read_only_and_global_stores() -> None:
    class Looks(Hosted):
        def process(self, record: Record) -> None:
            row, name = (
                self.context.store("rows").get(record.key),
                self.context.store("names").get(record.value),
            )
            if record.value == "write":
                self.context.store("names").put("k", "v")
            self.context.forward(record.with_value(f"{row} {name}"))

    builder = TopologyBuilder(value=STRING)
    builder.add_source("in", "in").add_processor("looks", Looks, "in").add_sink("out", "out", "looks")
    builder.add_read_only_store("rows", "table", "looks").add_global_store("names", "people")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe("table", "k", "row")
        driver.pipe("people", "v", "Ada")
        driver.pipe("in", "k", "v")
        assert driver.read("out") == [("k", "row Ada")]
        with pytest.raises(ProcessingError, match="'names' belongs to a global table and can only be read"):
            driver.pipe("in", "k", "write")


def test_a_session_store() -> None:
    class Sessions(Hosted):
        def process(self, record: Record) -> None:
            store, at = self.context.store("visits"), record.timestamp_ms
            near = store.find(record.key, at - 10, at + 10)
            count = sum(value for _, value in near) + 1
            for session, _ in near:
                store.remove(session)
            start = min([at, *(session.start_ms for session, _ in near)])
            end = max([at, *(session.end_ms for session, _ in near)])
            store.put(Windowed(record.key, start, end), count)

    builder = StreamsBuilder(value=STRING)
    builder.add_store("visits", value=LONG, sessions=True, retention_ms=100)
    builder.stream("in").process(Sessions, stores=["visits"], name="visits-of")
    with TopologyTestDriver(builder.build()) as driver:
        for at in (1, 8, 30, 19):
            driver.pipe("in", "k", "v", at)
        visits = driver.store("visits")
        assert visits.fetch("k") == [
            (Windowed("k", 1, 8), 2),
            (Windowed("k", 19, 19), 1),
            (Windowed("k", 30, 30), 1),
        ]
        assert visits.get(Windowed("k", 1, 8)) == 2 and visits.get(Windowed("k", 1, 9)) is None
        driver.pipe("in", "k", "v", 500)
        driver.pipe("in", "k", "v", 40)
        assert visits.fetch("k") == [(Windowed("k", 500, 500), 1)]
        assert driver.dropped["visits-of", EXPIRED] == Dropped(1, 460)


def by_pattern() -> StreamsBuilder:
    builder = StreamsBuilder("shop", value=STRING)
    orders = builder.stream(re.compile("orders-.*"))
    orders.join(builder.table("prices"), lambda order, price: f"{order}@{price}").to("out")
    return builder


def test_a_source_by_pattern_reads_what_there_is() -> None:
    topology = by_pattern().build()
    assert topology.patterns == ("orders-.*",)
    there = ["orders-us", "orders-eu", "prices", "my-orders-x"]
    resolved = topology.with_topics(there)
    assert resolved.source_topics == ("orders-eu", "orders-us", "prices") and resolved.patterns == ()
    assert settle_partitions(resolved, {topic: 3 for topic in resolved.source_topics}) == {}
    with pytest.raises(
        ConfigError, match=r"different numbers of partitions \(orders-eu 3, orders-us 2, prices 3\)"
    ):
        settle_partitions(resolved, {"orders-eu": 3, "orders-us": 2, "prices": 3})
    with TopologyTestDriver(topology, topics=there) as driver:
        driver.pipe("prices", "k", "7", 0)
        driver.pipe("orders-us", "k", "us", 1)
        driver.pipe("orders-eu", "k", "eu", 2)
        assert driver.read("out") == [("k", "us@7"), ("k", "eu@7")]


def test_a_topic_that_comes_to_match_leaves_the_fingerprint() -> None:
    topology = by_pattern().build()
    few, more = topology.with_topics(["orders-a", "prices"]), topology.with_topics(["orders-a", "orders-b"])
    assert topology.fingerprint == few.fingerprint == more.fingerprint


def test_a_pattern_that_nothing_matches_names_the_line() -> None:
    with pytest.raises(
        ConfigError, match=r"test_topology_builder.py:\d+: no existing topic matches the pattern 'orders"
    ):
        by_pattern().build().with_topics(["prices"])


def test_build_with_the_partitions_of_topics_by_pattern() -> None:
    assert by_pattern().build({"orders-a": 2, "prices": 2}).patterns == ("orders-.*",)
    with pytest.raises(ConfigError, match="different numbers of partitions"):
        by_pattern().build({"orders-a": 2, "prices": 3})
