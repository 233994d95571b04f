"""A typed application: mypy, run by `make check`, knows what flows where, and is told here what it should know."""

from typing import TypedDict, assert_type

from moldau.pipeline.streams import (
    DOUBLE,
    JSON,
    LONG,
    STRING,
    KStream,
    KTable,
    ProcessorContext,
    Record,
    Serde,
    StreamsBuilder,
    Topology,
    Windowed,
    col,
    sessions,
    tumbling,
    within,
)
from moldau.pipeline.streams.summaries import total
from moldau.testing import TopologyTestDriver


class Order(TypedDict):
    customer: str
    cents: int


ORDER: Serde[Order] = JSON


class Shout:
    def init(self, context: ProcessorContext) -> None:
        self.context = context

    def process(self, record: Record) -> None:
        self.context.forward(record)


def build() -> Topology:
    builder = StreamsBuilder("typed")
    orders = builder.stream("orders", key=STRING, value=ORDER)
    assert_type(orders, KStream[str, Order])
    cents = orders.map_values(lambda order: order["cents"], value=LONG)
    assert_type(cents, KStream[str, int])
    by_customer = orders.group_by(lambda key, order: order["customer"], key=STRING)
    assert_type(by_customer.count(), KTable[str, int])
    per_minute = by_customer.windowed_by(tumbling(60_000)).count(store="m")
    assert_type(per_minute, KTable[Windowed[str], int])
    spent = by_customer.windowed_by(sessions(5)).aggregate(
        lambda: 0, lambda key, order, so_far: so_far + order["cents"], lambda key, a, b: a + b, value=LONG
    )
    assert_type(spent, KTable[Windowed[str], int])
    spent.to_stream(lambda windowed, n: windowed.key, key=STRING).to("spent")
    names = builder.table("names", key=STRING, value=STRING)
    joined = orders.left_join(names, lambda order, name: f"{name}: {order['cents']}", value=STRING)
    joined.to("joined")
    orders.filter(col("cents") > 5).to("big")
    words = builder.stream("lines", key=STRING, value=STRING).flat_map_values(str.split)
    assert_type(words, KStream[str, str])
    ways = words.split().branch(lambda k, v: len(v) > 3, "long").rest("short")
    ways["long"].merge(ways["short"]).to("words")
    lengths = names.map_values(len, value=LONG)
    assert_type(lengths, KTable[str, int])
    names.join(lengths, lambda name, n: name * n, value=STRING).to_stream().to("n")
    words.process(Shout, key=STRING, value=STRING).to("shouted")
    per_minute.suppress().to_stream().to("closed")
    cents.group_by_key().reduce(lambda a, b: a + b).to_stream().to("sums")
    cents.group_by_key().summarize(total(serde=LONG)).to_stream().to("totals")
    cents.join(cents.map_values(float, value=DOUBLE), lambda a, b: a + b, windows=within(5), value=DOUBLE).to(
        "x"
    )
    return builder.build()


def test_the_typed_application_is_one_topology_like_any_other() -> None:
    with TopologyTestDriver(build()) as driver:
        driver.pipe("names", "ann", "Ann")
        driver.pipe("orders", "ann", {"customer": "ann", "cents": 7})
        assert driver.read("joined") == [("ann", "Ann: 7")]
        assert driver.read("sums") == [("ann", 7)]
