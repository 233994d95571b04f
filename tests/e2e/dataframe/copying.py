"""A user's program that copies a topic, started and killed by the tests. Arguments: servers, checkpoint, and a file at
whose sight a worker dies in the midst of its task."""

import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions

import moldau.spark
from e2e.dataframe.frames import stream
from moldau.pipeline.spark.session import SparkSettings, start_session


def perilous(flag: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def passed_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            if os.path.exists(flag):
                os.unlink(flag)
                os.kill(os.getpid(), signal.SIGKILL)

    return passed_on


def main(servers: str, checkpoint: str, flag: str) -> None:
    spark = start_session(SparkSettings(master="local[2]"))
    moldau.spark.register(spark)
    Path(checkpoint).mkdir(parents=True, exist_ok=True)
    while True:
        rows = stream(spark, servers, "killed", maxOffsetsPerTrigger="10000").select("key", "value")
        rows = rows.repartition(random.randint(1, 4), functions.rand(random.randrange(1 << 30)))
        rows = rows.mapInArrow(perilous(flag), rows.schema)
        options = {"bootstrap.servers": servers, "topic": "killed-out", "checkpointLocation": checkpoint}
        query = rows.writeStream.format("moldau").options(**options).start()
        try:
            query.awaitTermination()
        except StreamingQueryException as failure:
            print("the query has failed", str(failure)[-1500:], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
