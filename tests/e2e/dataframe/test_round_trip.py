"""What is read is what was written: columns, headers, timestamps, positions, ids."""

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.dataframe.frames import at, read, run_stream, stream, write
from e2e.spark.kit import Sent, committed, create_topics, send

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_a_stream_copies_a_topic_with_headers_and_times(spark: "SparkSession", servers: str, tmp_path: Path) -> None:
    create_topics(servers, copied=2, copy=3)
    rows = [
        (b"k%d" % n, b"v%d" % n if n % 7 else None, n % 2, at(n), [("n", b"%d" % n), ("none", None)] if n % 3 else None)
        for n in range(100)
    ]
    columns = "key BINARY, value BINARY, partition INT, timestamp TIMESTAMP, headers ARRAY<STRUCT<key STRING, value BINARY>>"
    write(spark.createDataFrame(rows, columns), servers, "copied")
    source = stream(spark, servers, "copied", includeHeaders="true")
    run_stream(source.drop("topic", "partition", "offset", "timestampType"), servers, tmp_path, "copy")
    got = read(spark, servers, "copy", includeHeaders="true").collect()
    assert {(bytes(row.key), row.value and bytes(row.value)) for row in got} == {row[:2] for row in rows}
    assert len(got) == len(rows)
    for row in got:
        number = int(bytes(row.key)[1:])
        assert row.timestamp.timestamp() == at(number).timestamp()
        assert row.topic == "copy" and row.timestampType == 0
        heads = row.headers and [(one.key, one.value and bytes(one.value)) for one in row.headers]
        assert heads == rows[number][4]
