"""What is read is what was written: keys, values, headers, timestamps, partitions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.dataframe.frames import WAIT_S, admin_of, at, at_ms, read, run_stream, stream, write
from e2e.spark.kit import committed, create_topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADERS = "headers ARRAY<STRUCT<key STRING, value BINARY>>"
COLUMNS = f"key BINARY, value BINARY, partition INT, timestamp TIMESTAMP, {HEADERS}"


def row(number: int) -> tuple[Any, ...]:
    headers = [("n", b"%d" % number), ("none", None)] if number % 3 else None
    value = b"v%d" % number if number % 7 else None
    return b"k%d" % number, value, number % 2, at(number), headers


def test_a_stream_copies_a_topic_with_headers_and_times(
    spark: "SparkSession", servers: str, tmp_path: Path
) -> None:
    create_topics(servers, copied=2, copy=3)
    rows = [row(number) for number in range(100)]
    write(spark.createDataFrame(rows, COLUMNS), servers, "copied")
    assert {(one.key, one.partition) for one in committed(servers, "copied")} == {
        (one[0], one[2]) for one in rows
    }
    source = stream(spark, servers, "copied", includeHeaders="true")
    assert source.columns == [
        "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers",
    ]  # fmt: skip
    run_stream(source.select("key", "value", "timestamp", "headers"), servers, tmp_path, "copy")
    got = {one.key: one for one in committed(servers, "copy")}
    assert len(got) == len(rows)
    for number, (key, value, _, _, headers) in enumerate(rows):
        assert (got[key].value, got[key].timestamp_ms) == (value, at_ms(number))
        assert got[key].headers == dict(headers or [])
    back = (
        read(spark, servers, "copy", includeHeaders="true").where("key = CAST('k8' AS BINARY)").collect()[0]
    )
    assert (bytes(back.value), back.topic, back.timestampType) == (b"v8", "copy", 0)
    assert back.timestamp.timestamp() * 1000 == at_ms(8)
    assert [(one.key, one.value and bytes(one.value)) for one in back.headers] == [
        ("n", b"8"),
        ("none", None),
    ]


def test_each_row_may_name_its_topic(spark: "SparkSession", servers: str) -> None:
    create_topics(servers, named_a=1, named_b=1)
    rows = [(f"named-{'ab'[number % 2]}", f"v{number}") for number in range(10)]
    write(spark.createDataFrame(rows, "topic STRING, value STRING"), servers)
    for topic in ("named-a", "named-b"):
        assert sorted(one.value for one in committed(servers, topic)) == sorted(
            value.encode() for name, value in rows if name == topic
        )


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ("value STRING, colour STRING", {}, "no column colour"),
        ("key STRING", {}, "no column value"),
        ("value LONG", {}, "cast it to STRING or BINARY"),
        ("value STRING, timestamp LONG", {}, "cast it to timestamp"),
        ("value STRING", {"topik": "x"}, "Did you mean topic?"),
        ("value STRING", {"topic": "not-there"}, "create it first"),
        ("value STRING", {"kafka__sasl__jaas__config": "x"}, "librdkafka"),
    ],
)
def test_a_frame_that_cannot_be_written_is_refused(
    spark: "SparkSession", servers: str, columns: str, options: dict[str, str], said: str
) -> None:
    if "refused" not in admin_of(servers).list_topics(timeout=WAIT_S).topics:
        create_topics(servers, refused=1)
    rows = spark.sql("SELECT 1 AS n").selectExpr(
        *[f"CAST(NULL AS {kind}) AS {name}" for name, kind in (one.split() for one in columns.split(", "))]
    )
    with pytest.raises(Exception, match=said):
        write(rows, servers, options.pop("topic", "refused"), **options)
    assert committed(servers, "refused") == []
