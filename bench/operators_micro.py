"""How fast the operators are by themselves: one task, one core, no Spark, no broker, bytes in and bytes out.

    python bench/operators_micro.py [--records 200000]

Each line is records per second of processor time through `Task.apply` in batches of 20,000, state changes taken after
each batch.
"""

import argparse
import random
import time
from collections.abc import Callable

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.task import Task
from moldau.pipeline.streams import JSON, STRING, StreamsBuilder, Topology, col, sessions, tumbling, within

BATCH = 20_000
KEYS = 20_000


def stateless_lambda() -> Topology:
    builder = StreamsBuilder(value=JSON)
    builder.stream("a").filter(lambda key, value: value["amount"] > 10).map_values(
        lambda value: {"total": value["amount"] * 2}
    ).to("out")
    return builder.build()


def stateless_expression() -> Topology:
    builder = StreamsBuilder(value=JSON)
    builder.stream("a").filter(col("amount") > 10).to("out")
    return builder.build()


def count() -> Topology:
    builder = StreamsBuilder(value=JSON)
    builder.stream("a").group_by_key().count().to_stream().to("out")
    return builder.build()


def windowed_count() -> Topology:
    builder = StreamsBuilder(value=JSON)
    counts = builder.stream("a").group_by_key().windowed_by(tumbling(60_000)).count()
    counts.to_stream(lambda windowed, count: windowed.key).to("out")
    return builder.build()


def session_count() -> Topology:
    builder = StreamsBuilder(value=JSON)
    counts = builder.stream("a").group_by_key().windowed_by(sessions(1_000)).count()
    counts.to_stream(lambda windowed, count: windowed.key).to("out")
    return builder.build()


def stream_table_join() -> Topology:
    builder = StreamsBuilder(value=JSON)
    table = builder.table("b")
    builder.stream("a").join(table, lambda left, right: {**left, "name": right["name"]}).to("out")
    return builder.build()


def table_table_join() -> Topology:
    builder = StreamsBuilder(value=JSON)
    joined = builder.table("a").join(builder.table("b"), lambda left, right: {**left, "name": right["name"]})
    joined.to_stream().to("out")
    return builder.build()


def stream_stream_join() -> Topology:
    builder = StreamsBuilder(value=JSON)
    left, right = builder.stream("a"), builder.stream("b")
    left.join(right, lambda one, other: {**one, "name": other["name"]}, windows=within(1_000)).to("out")
    return builder.build()


def upper_case() -> Topology:
    builder = StreamsBuilder(value=STRING)
    builder.stream("a").map_values(str.upper).to("out")
    return builder.build()


CASES: list[Callable[[], Topology]] = [
    upper_case,
    stateless_lambda,
    stateless_expression,
    count,
    windowed_count,
    session_count,
    stream_table_join,
    table_table_join,
    stream_stream_join,
]


def batches(topology: Topology, records: int, keys_in_use: int = KEYS) -> list[list[Columns]]:
    """Half of the records on each topic where there are two, evenly in time."""
    dice = random.Random(1)
    topics = topology.whole.source_topics
    made = []
    for start in range(0, records, BATCH):
        batch = []
        for topic in topics:
            size = BATCH // len(topics)
            keys = [f"key-{dice.randrange(keys_in_use)}".encode() for _ in range(size)]
            values = [b'{"amount": %d, "name": "customer %d"}' % (n % 100, n) for n in range(size)]
            times = [start + number * len(topics) for number in range(size)]
            batch.append(Columns(topic, 0, range(start, start + size), times, keys, values))
        made.append(batch)
    return made


def measure(make: Callable[[], Topology], records: int, keys: int = KEYS, *, collapse: bool = False) -> float:
    topology = make()
    work = batches(topology, records, keys)
    task = Task(topology, topology.whole, 0, collapse=collapse)
    started = time.process_time()
    for batch in work:
        task.apply(batch, 0)
        task.state.take_changes()
    return len(work) * BATCH / (time.process_time() - started)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=200_000)
    records = options.parse_args().records
    for make in CASES:
        print(f"{make.__name__:22} {measure(make, records):>10,.0f} records/s")
    for make in (count, windowed_count):
        for keys in (1_000, KEYS):
            speed = measure(make, records, keys, collapse=True)
            print(f"{make.__name__:22} {speed:>10,.0f} records/s collapsed per batch, {keys:,} keys")


if __name__ == "__main__":
    main()
