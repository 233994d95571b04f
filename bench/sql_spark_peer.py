"""The statements of the SQL benchmark in plain PySpark: Structured Streaming with Spark's own Kafka connector.

python bench/sql_spark_peer.py CASE SERVERS CHECKPOINT SINK RECORDS_PER_BATCH

Reads what there is in micro-batches and ends. Prints the records and seconds of each batch. At least once, since the
connector has no other sink. Nothing of this project is in the way of a record.
"""

import json
import os
import sys
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from moldau.pipeline.spark.real_time.connectors import connector_jars

WIDE_TYPES = (
    *((f"I{n}", "int") for n in range(1, 6)),
    *((f"G{n}", "bigint") for n in range(1, 5)),
    ("AT", "bigint"),
    *((f"D{n}", "double") for n in range(1, 6)),
    *((f"T{n}", "string") for n in range(1, 6)),
)
WIDE_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in WIDE_TYPES)
VIEW_SCHEMA = "PAGE string, REGION string, AMOUNT int"
USER_SCHEMA = "NAME string, LEVEL int"
EXPRESSIONS = (
    "I1 + I2 * 2",
    "I2 - I3",
    "I3 * I4",
    "G1 - G2",
    "G3 + I1",
    "G4 % 1000",
    "D1 * 1.5D + D2",
    "D3 / D4",
    "D5 - D1",
    "abs(D2 - D3)",
    "D4 * I5",
    "CAST(floor(D3) AS DOUBLE)",
    "CASE WHEN I1 > 500 THEN 'high' WHEN I1 > 100 THEN 'middle' ELSE 'low' END",
    "CASE WHEN I2 % 2 = 0 THEN T1 ELSE 'odd' END",
    "CASE WHEN D1 < 50D THEN T2 ELSE T3 END",
    "CASE WHEN T1 = 'red' THEN 'stop' WHEN T1 = 'green' THEN 'go' ELSE 'wait' END",
    "CASE WHEN G1 > G2 AND I3 > 10 THEN 'left' ELSE 'right' END",
    "upper(T1)",
    "lower(T2)",
    "T1 || '-' || T2",
    "concat(T3, T4)",
    "substring(T4, 1, 5)",
    "trim(T3)",
    "replace(T4, 'o', '0')",
    "length(T4)",
    "I4 > 10 AND D1 < 100D",
    "T1 = T2",
    "CAST(T5 AS BIGINT)",
    "CAST(I5 AS STRING)",
    "date_format(timestamp_millis(AT), 'yyyy-MM-dd HH:mm:ss')",
)


class Peer:
    def __init__(self, spark: SparkSession, servers: str, batch: int) -> None:
        self._spark = spark
        self._servers = servers
        self._batch = batch

    def frame(self, case: str) -> DataFrame:
        """Key and value of the result."""
        match case:
            case "filter":
                views = _fields(self._stream("views"), VIEW_SCHEMA).where("AMOUNT > 50")
                return views.select("key", _json("PAGE", "AMOUNT * 2 AS DOUBLED", "REGION"))
            case "wide":
                made = [f"{text} AS E{number}" for number, text in enumerate(EXPRESSIONS, 1)]
                return _fields(self._stream("wide"), WIDE_SCHEMA).select("key", _json(*made))
            case "count":
                minute = F.window("timestamp", "1 minute").alias("minute")
                counts = self._stream("views").groupBy("key", minute).agg(F.count("*").alias("N"))
                start = F.expr("unhex(lpad(hex(unix_millis(minute.start)), 16, '0'))")
                return counts.select(F.concat("key", start).alias("key"), _json("N"))
            case "join":
                views = _fields(self._stream("views"), VIEW_SCHEMA)
                joined = views.join(F.broadcast(self._users()), "key")
                return joined.select("key", _json("PAGE", "AMOUNT", "NAME", "LEVEL"))
        raise ValueError(case)

    def _users(self) -> DataFrame:
        """As they are now; unlike a table, they do not change any more."""
        read = self._spark.read.format("kafka").option("kafka.bootstrap.servers", self._servers)
        users = (
            _fields(read.option("subscribe", "users").load(), USER_SCHEMA)
            .select("key", "NAME", "LEVEL")
            .cache()
        )
        users.count()
        return users

    def _stream(self, topic: str) -> DataFrame:
        read = self._spark.readStream.format("kafka").option("kafka.bootstrap.servers", self._servers)
        read = read.option("subscribe", topic).option("startingOffsets", "earliest")
        return read.option("maxOffsetsPerTrigger", self._batch).load()

    def run(self, case: str, checkpoint: str, sink: str) -> None:
        write = self.frame(case).writeStream.format("kafka").option("kafka.bootstrap.servers", self._servers)
        write = write.option("topic", sink).option("checkpointLocation", checkpoint)
        query = write.outputMode("update").trigger(availableNow=True).start()
        query.awaitTermination()
        for one in query.recentProgress:
            if one["numInputRows"]:
                seconds = one["durationMs"]["triggerExecution"] / 1000
                print(json.dumps({"records": one["numInputRows"], "seconds": seconds}), flush=True)


def _fields(frame: DataFrame, schema: str) -> DataFrame:
    value = F.from_json(F.col("value").cast("string"), schema)
    return frame.select("key", value.alias("value")).select("key", "value.*")


def _json(*items: str) -> Column:
    return F.to_json(F.struct(*map(F.expr, items))).alias("value")


def main() -> None:
    case, servers, checkpoint, sink, batch = sys.argv[1:]
    Path(checkpoint).mkdir()
    builder = SparkSession.Builder().master("local[*]").appName("peer")
    settings = {
        "spark.jars": ",".join(map(str, connector_jars())),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    Peer(spark, servers, int(batch)).run(case, f"{checkpoint}/query", sink)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
