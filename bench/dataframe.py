"""DataFrames: our source and sink beside Spark's own Kafka connector, on the same broker and input, in turns.

    python bench/dataframe.py [--records N] [--rounds N]

The cases: reading a topic (into Spark's noop sink), writing a batch, and copying a topic as a stream in micro-batches.
Ours writes exactly once, in transactions; the connector at least once. Prints records per second and our share of
the connector's rate, by medians; exits with 1 when a share is below 1.0.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient

import moldau.spark
from moldau.pipeline.spark.session import SparkSettings, start_session
from pipeline_arena import arena, create, fill

BATCH_RECORDS = 500_000
ROW = (
    "CAST(CONCAT('key-', id % 1000) AS BINARY) AS key",
    "CAST(CONCAT('value-', LPAD(id, 12, '0'), '-abcdefghijklmnopqrstuvwxyz') AS BINARY) AS value",
)


class Bench:
    def __init__(self, spark: Any, servers: str, folder: Path, records: int) -> None:
        self._spark, self._servers, self._folder, self._records = spark, servers, folder, records
        self._runs = 0

    def source(self, connector: str) -> float:
        begun = time.monotonic()
        frame = self._options(self._spark.read.format(connector)).option("subscribe", "in").load()
        frame.write.format("noop").mode("overwrite").save()
        return self._records / (time.monotonic() - begun)

    def sink(self, connector: str) -> float:
        begun = time.monotonic()
        rows = self._spark.range(0, self._records, 1, 2).selectExpr(*ROW)
        self._options(rows.write.format(connector)).option("topic", self._target()).mode("append").save()
        return self._records / (time.monotonic() - begun)

    def copy(self, connector: str) -> float:
        """Without the first batch, which starts processes and compiles plans."""
        source = self._options(self._spark.readStream.format(connector)).option("subscribe", "in")
        source = source.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", BATCH_RECORDS)
        sink = self._options(source.load().select("key", "value").writeStream.format(connector))
        sink = sink.option("topic", self._target()).option(
            "checkpointLocation", str(self._folder / f"c{self._runs}")
        )
        query = sink.trigger(availableNow=True).start()
        query.awaitTermination()
        batches = [one for one in query.recentProgress if one["numInputRows"]][1:]
        took_ms = sum(one["durationMs"]["triggerExecution"] for one in batches)
        return sum(one["numInputRows"] for one in batches) * 1000 / took_ms

    def _options(self, frame: Any) -> Any:
        return frame.option("kafka.bootstrap.servers", self._servers)

    def _target(self) -> str:
        self._runs += 1
        name = f"out-{self._runs}"
        create(self._servers, name)
        return name

    def drop_targets(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._servers})
        names = [name for name in admin.list_topics(timeout=60).topics if name.startswith("out-")]
        for future in admin.delete_topics(names).values() if names else ():
            future.result(60)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    with arena() as (servers, _), tempfile.TemporaryDirectory() as folder:
        create(servers, "in", "table")
        fill(servers, wanted.records)
        spark = start_session(SparkSettings(master="local[2]", with_connectors=True))
        moldau.spark.register(spark)
        bench = Bench(spark, servers, Path(folder), wanted.records)
        cases = {"source": bench.source, "sink": bench.sink, "copy": bench.copy}
        rates: dict[str, dict[str, list[float]]] = {name: {"moldau": [], "kafka": []} for name in cases}
        print(f"load {os.getloadavg()[0]:.1f}, {wanted.records} records, {wanted.rounds} rounds", flush=True)
        for number in range(-1, wanted.rounds):
            for name, run in cases.items():
                for connector, found in rates[name].items():
                    rate = run(connector)
                    # The first round warms up.
                    if number >= 0:
                        found.append(rate)
                bench.drop_targets()
        worst = 10.0
        for name, found in rates.items():
            ours, theirs = (statistics.median(found[connector]) for connector in ("moldau", "kafka"))
            worst = min(worst, ours / theirs)
            print(f"{name:8} moldau {ours:10,.0f}/s   kafka {theirs:10,.0f}/s   {ours / theirs:.2f}")
        print(f"load {os.getloadavg()[0]:.1f}")
    return 0 if worst >= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
