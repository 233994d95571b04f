"""Mistakes in a topology are found when it is built, and the message names the user's line."""

# Of the mistakes below a type checker finds many, too; here they are to be made.
# mypy: disable-error-code="arg-type, misc, call-overload, call-arg, has-type"

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.decoding import DecodingError
from moldau.pipeline.plan.partitions import settle_partitions
from moldau.pipeline.streams import (
    INT,
    LONG,
    STRING,
    ProcessorContext,
    StreamsBuilder,
    call,
    col,
    hopping,
    tumbling,
    within,
)
from moldau.pipeline.streams.summaries import total
from moldau.testing import TopologyTestDriver


def refused(mistake: Callable[[], object], *, at: Callable[[], object] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        mistake()
    message = str(caught.value)
    lines, first = inspect.getsourcelines(at or mistake)
    place = re.match(r"(.*):(\d+): ", message)
    assert place is not None, f"no line named in: {message}"
    assert place[1] == __file__
    assert first <= int(place[2]) < first + len(lines)
    return message


class Nothing:
    def process(self, record: object) -> None:
        """Takes it and says nothing."""


def test_unknown_store() -> None:
    def mistake() -> None:
        builder = StreamsBuilder()
        builder.add_store("counts")
        builder.stream("in").process(Nothing, stores=["count"])
        builder.build()

    message = refused(mistake)
    assert "'count', which does not exist; did you mean 'counts'?" in message


def test_wrong_serde() -> None:
    def mistake() -> None:
        StreamsBuilder().stream("in").group_by_key().count().to_stream().to("out", value=STRING)

    assert "the values here are long and cannot be written as string" in refused(mistake)


def test_a_serde_that_can_write_what_flows_is_taken() -> None:
    StreamsBuilder().stream("in").group_by_key().count().to_stream().to("out", value=INT)
    StreamsBuilder().stream("in", value=STRING).map_values(len).to("out", value=LONG)


def test_a_function_that_says_what_it_returns_needs_no_serde() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").map_values(size).to("sizes")
    builder.stream("in").group_by_key().count().to_stream().map_values(str).to("texts")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe("in", "k", "three")
        assert driver.read("sizes") == [("k", 5)]
        assert driver.read("texts") == [("k", "1")]


def test_keys_of_different_kinds_cannot_be_joined() -> None:
    def mistake() -> None:
        builder = StreamsBuilder()
        table = builder.table("prices", key=LONG)
        builder.stream("orders", key=STRING).join(table, lambda order, price: order)

    assert "the keys of the two sides are string and long" in refused(mistake)


def test_different_partition_counts() -> None:
    def mistake() -> None:
        builder = StreamsBuilder()
        builder.stream("orders").join(builder.table("prices"), lambda order, price: order).to("out")
        builder.build({"orders": 4, "prices": 3})

    assert "different numbers of partitions (orders 4, prices 3)" in refused(mistake)


def test_a_fixed_repartition_that_does_not_fit() -> None:
    def mistake() -> None:
        builder = StreamsBuilder()
        orders = builder.stream("orders").select_key(lambda key, value: value).repartition(partitions=5)
        orders.join(builder.table("prices"), lambda order, price: order).to("out")
        builder.build({"prices": 3})

    assert "different numbers of partitions" in refused(mistake)


def test_a_changed_key_is_repartitioned_to_fit() -> None:
    builder = StreamsBuilder("shop")
    orders = builder.stream("orders").select_key(lambda key, value: value, name="by-item")
    orders.join(builder.table("prices"), lambda order, price: order).to("out")
    topology = builder.build({"orders": 4, "prices": 3})
    assert settle_partitions(topology, {"orders": 4, "prices": 3}) == {"shop-by-item-repartition": 3}


def test_a_repartition_topic_follows_what_flows_into_it() -> None:
    builder = StreamsBuilder("shop")
    builder.stream("orders").group_by(lambda key, value: value).count(store="n").to_stream().to("out")
    assert settle_partitions(builder.build(), {"orders": 6}) == {"shop-n-repartition": 6}


def test_names_taken() -> None:
    def same_node() -> None:
        builder = StreamsBuilder()
        builder.stream("a").filter(lambda key, value: True, name="f")
        builder.stream("b").filter(lambda key, value: True, name="f")

    def same_store() -> None:
        builder = StreamsBuilder()
        builder.table("a", store="s")
        builder.table("b", store="s")

    assert "the name 'f' is taken by the filter" in refused(same_node)
    assert "the store 's' exists already" in refused(same_store)


def test_joins_without_what_they_need() -> None:
    def no_windows() -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.stream("b"), lambda a, b: a)

    def no_key() -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.global_table("b"), lambda a, b: a)

    def windows_for_a_table() -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.table("b"), lambda a, b: a, windows=within(5))

    def two_builders() -> None:
        StreamsBuilder().stream("a").join(StreamsBuilder().table("b"), lambda a, b: a)

    assert "needs windows=" in refused(no_windows)
    assert "needs on=" in refused(no_key)
    assert "neither windows= nor on=" in refused(windows_for_a_table)
    assert "come from two builders" in refused(two_builders)


def test_suppress_needs_windows_or_a_time() -> None:
    def mistake() -> None:
        StreamsBuilder().table("a").suppress()

    assert "no windows that could close" in refused(mistake)


def test_history_where_it_does_not_fit() -> None:
    def suppressed() -> None:
        StreamsBuilder().table("a", history_ms=10).filter(lambda key, value: True).suppress(until_ms=5)

    def grace_without_history() -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.table("b"), lambda a, b: a, grace_ms=5)

    def grace_beyond_history() -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.table("b", history_ms=4), lambda a, b: a, grace_ms=5)

    def grace_of_streams() -> None:
        builder = StreamsBuilder()
        builder.stream("a").join(builder.stream("b"), lambda a, b: a, windows=within(5), grace_ms=5)

    def negative() -> None:
        StreamsBuilder().table("a", history_ms=-1)

    def with_windows() -> None:
        StreamsBuilder().add_store("s", window_ms=5, history_ms=5)

    assert "keeps its history" in refused(suppressed)
    assert "needs a table that keeps its history" in refused(grace_without_history)
    assert "whose history goes back 4 ms" in refused(grace_beyond_history)
    assert "is for joins with a table" in refused(grace_of_streams)
    assert "must not be negative" in refused(negative)
    assert "windows or a history, not both" in refused(with_windows)


def test_branches() -> None:
    def same_name() -> None:
        StreamsBuilder().stream("a").split().branch(lambda k, v: True, "x").branch(lambda k, v: True, "x")

    assert "the branch 'x' exists already" in refused(same_name)


def size(value: str) -> int:
    return len(value)


def built(*topics: str, **options: Any) -> StreamsBuilder:
    builder = StreamsBuilder(**options)
    for topic in topics:
        builder.stream(topic)
    return builder


THE_ONE = Nothing()
ONE_LINERS: dict[str, tuple[Callable[[], object], str]] = {
    "nothing at all": (lambda: StreamsBuilder().build(), "the topology is empty"),
    "a topic's name": (
        lambda: StreamsBuilder().stream("my topic"),
        "the topic 'my topic' cannot be a topic name",
    ),
    "a list of topics": (lambda: StreamsBuilder().stream(["a", "b"]), "['a', 'b'] is no topic"),
    "a pattern": (
        lambda: StreamsBuilder().table(re.compile("a.*")),
        "only stream() takes a pattern",
    ),
    "a pattern and a name": (
        lambda: StreamsBuilder().stream("b", re.compile("a.*")),
        "only stream() takes a pattern, as its only argument",
    ),
    "sessions without end": (
        lambda: StreamsBuilder().add_store("s", sessions=True),
        "the sessions of the store 's' need a retention_ms=",
    ),
    "sessions and windows": (
        lambda: StreamsBuilder().add_store("s", sessions=True, window_ms=5),
        "can have windows, sessions or a history",
    ),
    "an application id": (lambda: StreamsBuilder("my app"), "the application id 'my app'"),
    "a store's name": (lambda: StreamsBuilder().table("a", store="my store"), "the store 'my store'"),
    "a type for a serde": (lambda: StreamsBuilder(value=str), "`str` is no serde"),
    "no function": (lambda: built().stream("a").filter(True), "a function of (key, value), not True"),
    "too few arguments": (
        lambda: built().stream("a").filter(lambda value: True),
        "a function of (key, value); `<lambda>` takes (value)",
    ),
    "the key not asked for": (
        lambda: built().stream("a").map_values(lambda key, value: value),
        "a function of (value); with_key=True adds the key",
    ),
    "an initial value": (
        lambda: built().stream("a").group_by_key().aggregate(0, lambda k, v, so_far: so_far),
        "the initializer here must be a function without arguments, not 0",
    ),
    "another kind of value": (
        lambda: built().stream("a").map_values(size, value=STRING),
        "`size` gives int, which string cannot write",
    ),
    "another kind of aggregate": (
        lambda: built(value=STRING).stream("a").group_by_key().aggregate(dict, lambda k, v, so_far: so_far),
        "this aggregate starts as {}, which string cannot write",
    ),
    "a summary not called": (
        lambda: built().stream("a").group_by_key().summarize(total),
        "`total` is no summary: call it, as in summarize(total(...))",
    ),
    "an unknown function": (lambda: built().stream("a").filter(call("uper", col("x"))), "no function 'uper'"),
    "no windows": (lambda: built().stream("a").group_by_key().windowed_by(5), "5 are no windows"),
    "an empty window": (lambda: tumbling(0), "size must be above 0 ms"),
    "half a millisecond": (lambda: tumbling(0.5), "in whole milliseconds, not 0.5"),
    "a window that skips": (lambda: hopping(10, 20), "cannot advance by 20 ms"),
    "a short retention": (
        lambda: built().stream("a").group_by_key().windowed_by(tumbling(50)).count(retention_ms=5),
        "retention_ms=5 is shorter than the 50 ms",
    ),
    "a table with a stream": (
        lambda: (b := built()).table("a").join(b.stream("b"), lambda a, b: a),
        "a table is joined with a table, not with KStream",
    ),
    "windows of another kind": (
        lambda: (b := built()).stream("a").join(b.stream("b"), lambda a, b: a, windows=tumbling(5)),
        "are no windows of a join",
    ),
    "streams of other keys": (
        lambda: (b := built()).stream("a", key=LONG).join(b.stream("b"), lambda a, b: a, windows=within(5)),
        "the keys of the two sides are long and string",
    ),
    "streams of two builders": (lambda: built().stream("a").merge(built().stream("b")), "from two builders"),
    "streams of other values": (
        lambda: (b := built()).stream("a", value=STRING).merge(b.stream("b", value=LONG)),
        "the values here are long and cannot be written as string",
    ),
    "an instance for a supplier": (lambda: built().stream("a").process(Nothing()), "without arguments"),
    "no processor": (lambda: built().stream("a").process(object), "has no process(record)"),
    "one processor for all": (
        lambda: built().stream("a").process(lambda: THE_ONE),
        "the same processor twice",
    ),
    "one name for a list": (lambda: built().stream("a").process(Nothing, stores="s"), "stores=['s']"),
    "a misspelt offset": (lambda: built().stream("a", offset_reset="latst"), "one of 'earliest', 'latest'"),
    "a misspelt promise": (lambda: built("a").build(guarantee="twice"), "guarantee cannot be 'twice'"),
    "a misspelt topic": (lambda: built("orders").build({"order": 3}), "did you mean 'orders'?"),
    "too few partitions": (
        lambda: built().stream("a").repartition(partitions=-1),
        "cannot have -1 partitions",
    ),
    "a buffer that drops": (
        lambda: built().table("a").suppress(until_ms=5, when_full="drop"),
        "when_full= is 'emit' or 'fail'",
    ),
}


@pytest.mark.parametrize("what", ONE_LINERS)
def test_mistakes_of_one_line(what: str) -> None:
    mistake, told = ONE_LINERS[what]
    assert told in refused(mistake)


def test_stores_added_for_nobody_or_twice() -> None:
    def unused() -> None:
        builder = built("a")
        builder.add_store("s")
        builder.build()

    def taken() -> None:
        builder = StreamsBuilder()
        builder.add_store("s")
        builder.stream("a").group_by_key().count(store="s")

    def taken_before() -> None:
        builder = StreamsBuilder()
        builder.stream("a").group_by_key().count(store="s")
        builder.add_store("s")

    assert "no processor uses the store 's'" in refused(unused)
    assert "the store 's' was added before, at" in refused(taken)
    assert "the store 's' was made before, at" in refused(taken_before)


def test_a_store_that_is_not_connected_is_named_with_the_line_of_process() -> None:
    class Asks(Nothing):
        def init(self, context: ProcessorContext) -> None:
            context.store("counts")

    def mistake() -> None:
        builder = StreamsBuilder()
        builder.stream("in").process(Asks)
        TopologyTestDriver(builder.build())

    assert "asks for the store 'counts', which it is not connected to" in refused(mistake)


def dead_reason(builder: StreamsBuilder, value: object, *, topic: str = "in") -> str:
    with TopologyTestDriver(builder.build(), on_error="dead_letter") as driver:
        driver.pipe(topic, "k", value)
        (dead,) = driver.dead
        return str(dead.reason)


def test_a_map_without_a_pair_names_line_and_result() -> None:
    def pairless(given: object) -> str:
        builder = StreamsBuilder()
        builder.stream("in").map(lambda key, value: given, name="rekey").to("out")
        return dead_reason(builder, {"a": 1})

    _, first = inspect.getsourcelines(pairless)
    told = f"{__file__}:{first + 2}: the mapper of rekey (map) must return a tuple (key, value), not "
    for given in ("ab", None, {"a": 1, "b": 2}, (1, 2, 3), {1, 2}):
        assert told + repr(given) in pairless(given)


def test_flat_maps_without_pairs_or_without_a_list() -> None:
    builder = StreamsBuilder()
    builder.stream("in").flat_map(lambda key, value: "ab", name="flat").to("out")
    assert "the mapper of flat (flat-map) must return a tuple (key, value), not 'a'" in dead_reason(
        builder, 1
    )
    builder = StreamsBuilder()
    builder.stream("in").flat_map_values(lambda value: None, name="flat").to("out")
    assert "must return a list of values, or any other iterable of them, not None" in dead_reason(builder, 1)


def test_a_table_regrouped_without_a_pair() -> None:
    builder = StreamsBuilder()
    builder.table("in").group_by(lambda key, value: value["group"]).count().to_stream().to("out")
    assert "(group-table) must return a tuple (key, value), not 'x'" in dead_reason(builder, {"group": "x"})


TIMESTAMPS = {
    "missing": ("at", {"att": 1}, "the timestamp field at is missing or null; its fields are att"),
    "null": ("at", {"at": None}, "the timestamp field at is missing or null"),
    "text": (
        "at",
        {"at": "2026-01-01"},
        "the timestamp field at gives '2026-01-01', a str, where milliseconds",
    ),
    "a dict": (col("at"), {"at": {}}, "the timestamp field at gives {}, a dict"),
    "by function": (lambda value, time_ms: value.get("at"), {}, "gives None, a NoneType, where milliseconds"),
    "not a number": ("at", {"at": True}, "gives True, a bool"),
}


@pytest.mark.parametrize("what", TIMESTAMPS)
def test_a_timestamp_that_is_none_names_field_record_and_cure(what: str) -> None:
    timestamp, value, told = TIMESTAMPS[what]
    builder = StreamsBuilder()
    builder.stream("in", timestamp=timestamp).to("out")
    assert told in dead_reason(builder, value)
    with (
        TopologyTestDriver(builder.build()) as driver,
        pytest.raises(
            DecodingError, match=r"py:\d+: the record of in-0 at offset 1 has no usable timestamp: "
        ),
    ):
        driver.pipe("in", "k", {"at": 5})
        driver.pipe("in", "k", value)


def test_a_timestamp_with_a_fraction_is_cut() -> None:
    builder = StreamsBuilder()
    builder.stream("in", timestamp="at").to("out")
    with TopologyTestDriver(builder.build()) as driver:
        driver.pipe("in", "k", {"at": 12.75})
        assert [one.timestamp_ms for one in driver.read_records("out")] == [12]
