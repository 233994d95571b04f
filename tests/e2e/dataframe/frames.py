"""What the tests of DataFrames share. Options are written with two underscores for a dot."""

import datetime
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.pipeline.spark.clients import shared
from moldau.spark.topics import patiently

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

WAIT_S = 700
"""Longer than Spark waits for a Python worker that was killed before it connected: 300 s."""
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def at(second: float) -> datetime.datetime:
    return START + datetime.timedelta(seconds=second)


def at_ms(second: float) -> int:
    return int(at(second).timestamp() * 1000)


def read(spark: "SparkSession", servers: str, topic: str = "", **options: str) -> "DataFrame":
    """As a batch."""
    return spark.read.format("moldau").options(**_options(servers, {"subscribe": topic}, options)).load()


def stream(spark: "SparkSession", servers: str, topic: str = "", **options: str) -> "DataFrame":
    wanted = {"subscribe": topic, "startingOffsets": "earliest"}
    return spark.readStream.format("moldau").options(**_options(servers, wanted, options)).load()


def write(frame: "DataFrame", servers: str, topic: str = "", **options: str) -> None:
    wanted = _options(servers, {"topic": topic}, options)
    frame.write.format("moldau").mode("append").options(**wanted).save()


def start_stream(
    frame: "DataFrame", servers: str, checkpoint: Path, topic: str = "", **options: str
) -> "StreamingQuery":
    """It ends by itself when all that is there now is written."""
    wanted = _options(servers, {"topic": topic, "checkpointLocation": str(checkpoint)}, options)
    return frame.writeStream.format("moldau").options(**wanted).trigger(availableNow=True).start()


def run_stream(
    frame: "DataFrame", servers: str, checkpoint: Path, topic: str = "", **options: str
) -> list[int]:
    """To its end; the rows of each batch."""
    query = start_stream(frame, servers, checkpoint, topic, **options)
    try:
        assert query.awaitTermination(WAIT_S), "the query does not come to its end"
        return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]
    finally:
        query.stop()


def wait_for(condition: Callable[[], bool], what: Callable[[], str], look_every_s: float = 0.3) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {WAIT_S} s: {what()}"
        time.sleep(look_every_s)


def ends(admin: AdminClient, topic: str, partitions: int, level: IsolationLevel) -> int:
    """The sum of the partitions' end offsets."""
    asked = {TopicPartition(topic, number): OffsetSpec.latest() for number in range(partitions)}

    def answers() -> int:
        futures = admin.list_offsets(asked, isolation_level=level)
        return sum(future.result(WAIT_S).offset for future in futures.values())

    # A broker that was killed is back, but its partitions may have no leader yet.
    return patiently(answers)


def admin_of(servers: str) -> AdminClient:
    return AdminClient(shared(servers, {}))


def _options(servers: str, ours: dict[str, str], given: dict[str, str]) -> dict[str, str]:
    named = {name.replace("__", "."): value for name, value in given.items()}
    return {"bootstrap.servers": servers, **{name: value for name, value in ours.items() if value}, **named}
