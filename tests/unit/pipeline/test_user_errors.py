"""Mistakes in a topology are found when it is built, and the message names the user's line."""

import inspect
import re
from collections.abc import Callable

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.partitions import settle_partitions
from moldau.pipeline.streams import INT, LONG, STRING, StreamsBuilder, hopping, tumbling, within


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
    assert "'count', which nobody made; did you mean 'counts'?" in message


def test_wrong_serde() -> None:
    def mistake() -> None:
        StreamsBuilder().stream("in").group_by_key().count().to_stream().to("out", value=STRING)

    assert "the values here are long and cannot be written as string" in refused(mistake)


def test_a_serde_that_can_write_what_flows_is_taken() -> None:
    StreamsBuilder().stream("in").group_by_key().count().to_stream().to("out", value=INT)
    StreamsBuilder().stream("in", value=STRING).map_values(len).to("out", value=LONG)


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


def test_a_processor_without_process() -> None:
    from moldau.testing import TopologyTestDriver

    builder = StreamsBuilder()
    builder.stream("a").process(object)
    with pytest.raises(ConfigError, match=re.escape(__file__)):
        TopologyTestDriver(builder.build())


def test_branches() -> None:
    def same_name() -> None:
        StreamsBuilder().stream("a").split().branch(lambda k, v: True, "x").branch(lambda k, v: True, "x")

    assert "the branch 'x' exists already" in refused(same_name)


def test_an_empty_topology() -> None:
    with pytest.raises(ConfigError, match="the topology is empty"):
        StreamsBuilder().build()


def test_windows_that_make_no_sense() -> None:
    with pytest.raises(ConfigError, match="cannot advance by 20 ms"):
        hopping(10, 20)
    with pytest.raises(ConfigError, match="size must be above 0"):
        tumbling(0)
