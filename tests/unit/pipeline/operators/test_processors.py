"""Processors of the user: what they see, where they send, what they may not do."""

from typing import Any

import pytest

from moldau.pipeline.operators.task import ProcessingError
from moldau.pipeline.streams import LONG, STRING, PunctuationType, Record, StreamsBuilder, within
from moldau.testing import TopologyTestDriver


class Hosted:
    """A processor that keeps its context; tests say what it does."""

    def init(self, context: Any) -> None:
        self.context = context


class Place(Hosted):
    def process(self, record: Record) -> None:
        here = self.context
        place = f"{here.topic}-{here.partition}@{here.offset} {here.stream_time_ms} {here.wall_clock_ms}"
        self.context.forward(record.with_value(place).with_headers((*record.headers, ("seen", b"1"))))


def test_context_and_headers() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").process(Place).to("out")
    with TopologyTestDriver(builder.build(), now_ms=99) as driver:
        driver.pipe("in", "k", "v", 7)
        driver.pipe("in", "k", "v", 5, headers=(("h", None),))
        first, second = driver.read_records("out")
        assert first == ("k", "in-0@0 7 99", 7, (("seen", b"1"),))
        assert second == ("k", "in-0@1 7 99", 5, (("h", None), ("seen", b"1")))


def test_forwarding_to_one_child() -> None:
    class Router(Hosted):
        def process(self, record: Record) -> None:
            self.context.forward(record, "loud" if record.value == "!" else "quiet")

    builder = StreamsBuilder(value=STRING)
    routed = builder.stream("in").process(Router)
    routed.to("a", name="loud")
    routed.to("b", name="quiet")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe_all("in", [("k", "!"), ("k", "?")])
        assert (driver.read("a"), driver.read("b")) == ([("k", "!")], [("k", "?")])


def test_a_processor_of_values_keeps_its_key() -> None:
    class Thief(Hosted):
        def process(self, record: Record) -> None:
            self.context.forward(record.with_key("other"))

    builder = StreamsBuilder(value=STRING)
    builder.stream("in").process_values(Thief).to("out")
    with (
        TopologyTestDriver(builder.build()) as driver,
        pytest.raises(ProcessingError, match="process_values may not change the key"),
    ):
        driver.pipe("in", "k", "v")


def test_a_store_that_was_not_connected() -> None:
    class Nosy(Hosted):
        def process(self, record: Record) -> None:
            self.context.store("counts")

    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.group_by_key().count(store="counts")
    stream.process(Nosy)
    with (
        TopologyTestDriver(builder.build()) as driver,
        pytest.raises(ProcessingError, match="asks for the store 'counts', which it is not connected to"),
    ):
        driver.pipe("in", "k", "v")


def test_two_processors_share_a_store_and_so_a_task() -> None:
    class Writer(Hosted):
        def process(self, record: Record) -> None:
            store = self.context.store("shared")
            store.put(record.key, (store.get(record.key) or 0) + 1)

    builder = StreamsBuilder(value=STRING)
    builder.add_store("shared", value=LONG)
    for topic in ("a", "b"):
        builder.stream(topic).process(Writer, stores=["shared"])
    topology = builder.build()
    assert len(topology.sub_topologies) == 1
    with TopologyTestDriver(topology) as driver:
        driver.pipe("a", "k", "v")
        driver.pipe("b", "k", "v")
        assert driver.store("shared").get("k") == 2


def test_window_stores_global_stores_and_cancelled_schedules() -> None:
    class Busy(Hosted):
        def init(self, context: Any) -> None:
            super().init(context)
            self.ticks = context.schedule(10, PunctuationType.STREAM_TIME, self.tick)

        def process(self, record: Record) -> None:
            self.context.store("w").put(record.key, record.value, record.timestamp_ms // 10 * 10)
            self.context.forward(record.with_value(self.context.store("names").get(record.key)))

        def tick(self, now_ms: int) -> None:
            self.context.forward(Record("tick", str(now_ms), now_ms))
            if now_ms > 20:
                self.ticks.cancel()

    builder = StreamsBuilder(value=STRING)
    builder.add_store("w", window_ms=10, retention_ms=100)
    builder.global_table("people", store="names")
    builder.stream("in").process(Busy, stores=["w", "names"]).to("out")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe("people", "k", "Ada")
        driver.pipe_all("in", [("k", "v1", 1), ("k", "v2", 25), ("k", "v3", 60)])
        assert driver.read("out") == [("k", "Ada"), ("tick", "1"), ("k", "Ada"), ("tick", "25"), ("k", "Ada")]
        assert driver.store("w").fetch("k") == [(0, "v1"), (20, "v2"), (60, "v3")]


def test_topics_chosen_per_record() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").to(lambda key, value, context: f"{context.topic}-{key}")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe_all("in", [("a", "1"), ("b", "2")])
        assert (driver.read("in-a"), driver.read("in-b")) == ([("a", "1")], [("b", "2")])


def test_joins_of_one_changed_stream_share_a_topic() -> None:
    builder = StreamsBuilder("app", value=STRING)
    stream = builder.stream("in").select_key(lambda key, value: value, name="by-value")
    for topic in ("t1", "t2"):
        stream.join(builder.table(topic), lambda one, other: one + other).to(f"out-{topic}")
    stream.join(stream, lambda one, other: one + other, windows=within(5)).to("self")
    topology = builder.build()
    assert [topic.name for topic in topology.repartition_topics] == ["app-by-value-repartition"]
    with TopologyTestDriver(topology) as driver:
        driver.pipe("t1", "x", "1")
        driver.pipe("t2", "x", "2")
        driver.pipe("in", "k", "x")
        assert [driver.read(topic) for topic in ("out-t1", "out-t2", "self")] == [
            [("x", "x1")],
            [("x", "x2")],
            [("x", "xx")],
        ]
