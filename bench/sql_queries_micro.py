"""What transient SQL costs in its process: preparing, looking up, and the way of a record to a push query.

    python bench/sql_queries_micro.py [--records 100000] [--messages 1000] [--queries 1 100]

Starts a broker of its own on the loopback interface. `prepare` is measured for a text that was seen before and for one
that was not; `lookup` for a table that is loaded, one request after another and at 200 a second while its topic is
written to. `push` is the time from produce() to the row in the client's event loop, with some queries on one topic.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from systems import ROOT, StockMoldau

sys.path.insert(0, str(ROOT / "tests"))  # The queries are those of the end-to-end tests.

from e2e.sql.queries.world import World

TABLE = "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING, AGE INTEGER) WITH (KAFKA_TOPIC='users', FORMAT='JSON')"
STREAM = "CREATE STREAM VIEWS (ID STRING KEY, PAGE STRING, AT BIGINT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON')"
PUSH = "SELECT ID, PAGE, AT FROM VIEWS WHERE PAGE <> 'none' EMIT CHANGES;"
REQUESTS_PER_S = 200


def timed(times: int, work: Callable[[int], object]) -> list[float]:
    """Of each call, in seconds."""
    found = []
    for number in range(times):
        began_s = time.perf_counter()
        work(number)
        found.append(time.perf_counter() - began_s)
    return found


def show(name: str, seconds: Sequence[float]) -> None:
    ordered = sorted(seconds)

    def at(share: float) -> str:
        return f"{ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e3:9.3f}"

    print(
        f"{name:42} p50 {at(0.5)}  p95 {at(0.95)}  p99 {at(0.99)}  max {ordered[-1] * 1e3:9.3f} ms",
        flush=True,
    )


def load_table(world: World, records: int) -> None:
    source = world.define(TABLE, 4)
    for start in range(0, records, 10_000):
        numbers = range(start, min(start + 10_000, records))
        world.write("users", *((f'"u{n}"', {"NAME": f"name {n}", "AGE": n % 90}) for n in numbers))
    began_s = time.perf_counter()
    world.host.tables.add(source)
    world.rows("SELECT * FROM USERS WHERE ID = 'u1';")
    print(f"{'load of a table':42} {records / (time.perf_counter() - began_s):>13,.0f} records/s")


def lookups(world: World, records: int) -> None:
    text = "SELECT * FROM USERS WHERE ID = 'u1';"
    show("prepare, a text seen before", timed(10_000, lambda _: world.host.prepare(text, world.defined)))

    def fresh(number: int) -> None:
        world.host.prepare(f"SELECT * FROM USERS WHERE ID = 'u{number}' AND AGE >= 0;", world.defined)

    show("prepare, a text not seen before", timed(1_000, fresh))
    keys = [random.randrange(records) for _ in range(1_000)]

    def ask(number: int) -> None:
        assert len(world.rows(f"SELECT * FROM USERS WHERE ID = 'u{keys[number % 1_000]}';")) == 1

    show("prepare and lookup by key", timed(5_000, ask))
    show("scan with a condition", timed(5, lambda _: world.rows("SELECT * FROM USERS WHERE AGE = 7;")))

    for name, chosen in (
        ("few keys", keys[:100]),
        ("other keys each time", random.sample(range(records), 1_000)),
    ):
        found = []
        for number in range(1_000):
            next_at_s = time.perf_counter() + 1 / REQUESTS_PER_S
            if number % 10 == 0:
                world.write("users", *((f'"u{n}"', {"NAME": "new", "AGE": 1}) for n in range(100)))
            began_s = time.perf_counter()
            world.rows(f"SELECT NAME FROM USERS WHERE ID = 'u{chosen[number % len(chosen)]}';")
            found.append(time.perf_counter() - began_s)
            time.sleep(max(0.0, next_at_s - time.perf_counter()))
        show(f"{REQUESTS_PER_S}/s and writes, {name}", found)


async def push(world: World, messages: int, queries: int) -> None:
    """The latency of the last query that gets a row counts no more than that of any other."""
    streams = [await asyncio.to_thread(world.start, PUSH) for _ in range(queries)]
    latencies: list[float] = []

    async def read(stream: object) -> None:
        seen = 0
        async for rows in stream:  # type: ignore[attr-defined]
            now = time.perf_counter_ns()
            latencies.extend((now - at) / 1e9 for _, _, at in rows)
            seen += len(rows)
            if seen >= messages:
                return

    readers = [asyncio.create_task(read(stream)) for stream in streams]
    for _ in range(messages):
        await asyncio.to_thread(world.write, "views", ("u", {"PAGE": "a", "AT": time.perf_counter_ns()}))
        await asyncio.sleep(0.005)
    await asyncio.gather(*readers)
    for stream in streams:
        stream.close()
    show(f"push, {queries} queries", latencies)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=100_000, help="rows of the table")
    options.add_argument("--messages", type=int, default=1_000, help="records of the stream")
    options.add_argument("--queries", type=int, nargs="+", default=[1, 100])
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, StockMoldau(Path(folder)) as broker:
        world = World(broker.bootstrap)
        try:
            load_table(world, given.records)
            lookups(world, given.records)
            world.define(STREAM, 1)
            for queries in given.queries:
                asyncio.run(push(world, given.messages, queries))
        finally:
            world.close()


if __name__ == "__main__":
    main()
