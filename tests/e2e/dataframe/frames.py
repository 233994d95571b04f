"""What the tests of DataFrames share."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WAIT_S = 300
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def at(second: float) -> datetime.datetime:
    return START + datetime.timedelta(seconds=second)


def read(spark: "SparkSession", servers: str, topic: str, **options: str) -> "DataFrame":
    """As a batch."""
    named = {name.replace("__", "."): value for name, value in options.items()}
    return spark.read.format("moldau").options(
        **{"bootstrap.servers": servers, "subscribe": topic, **named}
    ).load()


def stream(spark: "SparkSession", servers: str, topic: str, **options: str) -> "DataFrame":
    named = {name.replace("__", "."): value for name, value in options.items()}
    wanted = {"bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest", **named}
    return spark.readStream.format("moldau").options(**wanted).load()


def write(frame: "DataFrame", servers: str, topic: str, **options: str) -> None:
    named = {name.replace("__", "."): value for name, value in options.items()}
    frame.write.format("moldau").mode("append").options(
        **{"bootstrap.servers": servers, "topic": topic, **named}
    ).save()


def run_stream(frame: "DataFrame", servers: str, checkpoint: Path, topic: str, **options: str) -> None:
    """Until all that is there now is written."""
    named = {name.replace("__", "."): value for name, value in options.items()}
    wanted = {"bootstrap.servers": servers, "topic": topic, "checkpointLocation": str(checkpoint), **named}
    query = frame.writeStream.format("moldau").options(**wanted).trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(WAIT_S), "the query does not come to its end"
    finally:
        query.stop()
