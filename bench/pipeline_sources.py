"""Two ways of records into Python on Spark: Spark's Kafka connector with Arrow behind it, and our own range reader.

python bench/pipeline_sources.py [--records N]

Each reads the same two partitions with two tasks and ends with the columns that operators take. This is why
micro-batches do not use the connector.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator

import pyarrow as pa
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame, SparkSession

from moldau.pipeline.spark.clients import consumer
from moldau.pipeline.spark.positions import OffsetRange
from moldau.pipeline.spark.session import SparkSettings, start_session
from moldau.pipeline.spark.topic_offsets import end_offsets
from moldau.pipeline.spark.worker.range_reader import RangeReader
from pipeline_arena import PARTITIONS, arena, create, fill

ROUNDS = 3
COLUMNS = ("offset", "timestamp", "key", "value")


def by_connector(session: SparkSession, servers: str) -> int:
    rows: DataFrame = (
        session.read.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", "in")
        .load()
    )

    def taken(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        count = 0
        for batch in batches:
            count += len(list(zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True)))
        yield pa.RecordBatch.from_pydict({"count": [count]})

    millis = "unix_millis(timestamp) AS timestamp"
    found = rows.selectExpr("offset", millis, "key", "value").mapInArrow(taken, "count long").collect()
    return sum(row["count"] for row in found)


def by_range_reader(session: SparkSession, servers: str, ends: dict[int, int]) -> int:
    ranges = [OffsetRange("in", partition, 0, end) for partition, end in ends.items()]

    def taken(mine: Iterator[OffsetRange]) -> Iterator[int]:
        from confluent_kafka import Consumer  # Not to be pickled with this function.

        client = Consumer(consumer(servers, {}, "sources"))
        for one in mine:
            for columns in RangeReader(client).read([one]):
                yield len(
                    list(
                        zip(columns.offsets, columns.timestamps_ms, columns.keys, columns.values, strict=True)
                    )
                )
        client.close()

    return sum(session.sparkContext.parallelize(ranges, PARTITIONS).mapPartitions(taken).collect())


def best(read: Callable[[], int], records: int) -> float:
    """Records a second in the best of some rounds: the first pays for starting workers."""
    rates = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        assert read() == records
        rates.append(records / (time.perf_counter() - began))
    return max(rates)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=1_000_000)
    records = options.parse_args().records
    session = start_session(SparkSettings(with_connectors=True))
    with arena() as (servers, _):
        create(servers, "in", "table", "out")
        fill(servers, records)
        ends = end_offsets(AdminClient({"bootstrap.servers": servers}), {"in": PARTITIONS})["in"]
        ways = {
            "Spark's connector and Arrow": lambda: by_connector(session, servers),
            "range reader": lambda: by_range_reader(session, servers, ends),
        }
        for name, read in ways.items():
            print(f"{name:28} {best(read, records):12,.0f} records/s", flush=True)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
