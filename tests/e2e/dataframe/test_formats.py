"""Keys and values as columns: plain formats, JSON, and those of the schema registry."""

import datetime
import decimal
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.dataframe.frames import at, read, run_stream, stream, write
from e2e.spark.kit import Sent, create_topics, send
from moldau.testing import LocalRegistry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDER = (
    "id LONG NOT NULL, name STRING, price DOUBLE, paid BOOLEAN, at TIMESTAMP, tags ARRAY<STRING>, "
    "stock MAP<STRING, INT>, buyer STRUCT<email: STRING, age: INT>"
)
ORDERS: list[dict[str, Any]] = [
    {
        "id": number,
        "name": f"order {number}" if number % 2 else None,
        "price": number / 4,
        "paid": number % 3 == 0,
        "at": at(number),
        "tags": ["new"] * (number % 3),
        "stock": {"left": number},
        "buyer": {"email": f"{number}@example.org", "age": number} if number % 4 else None,
    }
    for number in range(20)
]


@pytest.fixture(scope="module")
def registry(servers: str) -> Iterator[LocalRegistry]:
    with LocalRegistry(servers) as running:
        yield running


def plain(row: Any) -> dict[str, Any]:
    """A collected row as the dict it was made of."""
    found = row.asDict(recursive=True)
    found["at"] = found["at"].astimezone(datetime.UTC)
    return dict(found)


@pytest.mark.parametrize("form", ["avro", "json_schema", "json"])
def test_rows_are_values(
    spark: "SparkSession", servers: str, registry: LocalRegistry, tmp_path: Path, form: str
) -> None:
    """Written under a schema made from the columns, which is registered; read back into the same columns."""
    topic, copy = f"orders-{form.replace('_', '-')}", f"orders-{form.replace('_', '-')}-copy"
    create_topics(servers, **{topic: 2, copy: 1})
    of_registry = {"schema__registry__url": registry.url} if form != "json" else {}
    both = {"key__format": "long", "value__format": form, **of_registry}
    rows = spark.createDataFrame(ORDERS, ORDER)
    write(rows.selectExpr("id AS key", "struct(*) AS value"), servers, topic, **both)
    reading = {**both, "value__schema": ORDER} if form == "json" else both
    decoded = stream(spark, servers, topic, **reading)
    run_stream(decoded.select("key", "value").where("value.id < 10"), servers, tmp_path, copy, **both)
    back = read(spark, servers, copy, **reading).select("key", "value.*").collect()
    found = sorted((plain(row) for row in back), key=lambda row: row["id"])
    assert [row.pop("key") for row in found] == list(range(10))
    assert found == ORDERS[:10]
    if form != "json":
        with urllib.request.urlopen(f"{registry.url}/subjects") as answer:
            assert {f"{topic}-value", f"{copy}-value"} <= set(json.load(answer))


def test_an_avro_schema_that_grew_reads_old_records(
    spark: "SparkSession", servers: str, registry: LocalRegistry
) -> None:
    create_topics(servers, grown=1)
    options = {"value__format": "avro", "schema__registry__url": registry.url}
    write(spark.sql("SELECT struct(1 AS id) AS value"), servers, "grown", **options)
    write(spark.sql("SELECT struct(2 AS id, CAST('x' AS STRING) AS note) AS value"), servers, "grown",
          value__schema=json.dumps({"type": "record", "name": "Row", "fields": [
              {"name": "id", "type": "int"},
              {"name": "note", "type": ["null", "string"], "default": None}]}), **options)  # fmt: skip
    rows = read(spark, servers, "grown", **options).select("value.*").orderBy("id").collect()
    assert [(row.id, row.note) for row in rows] == [(1, None), (2, "x")]


def test_decimals_dates_and_bytes_pass_avro(
    spark: "SparkSession", servers: str, registry: LocalRegistry
) -> None:
    create_topics(servers, exact=1)
    options = {"value__format": "avro", "schema__registry__url": registry.url}
    row = "CAST('12.50' AS DECIMAL(10, 2)) AS sum, DATE'2026-02-03' AS day, X'0102' AS raw, CAST(1.5 AS FLOAT) AS part"
    write(spark.sql(f"SELECT struct({row}) AS value"), servers, "exact", **options)
    (got,) = read(spark, servers, "exact", **options).select("value.*").collect()
    assert (got.sum, got.day, bytes(got.raw), got.part) == (
        decimal.Decimal("12.50"),
        datetime.date(2026, 2, 3),
        b"\1\2",
        1.5,
    )


def test_undecodable_records_stop_the_query_or_fill_a_column(spark: "SparkSession", servers: str) -> None:
    create_topics(servers, spoilt=1)
    good = b'{"id": 1, "name": "a"}'
    send(servers, "spoilt", [Sent("k", good), Sent("k", b"{"), Sent("k", b'{"id": "x"}'), Sent("k", None)])
    options = {"value__format": "json", "value__schema": "id INT, name STRING", "key__format": "string"}
    with pytest.raises(Exception, match="spoilt-0 offset 1 cannot be decoded"):
        read(spark, servers, "spoilt", **options).collect()
    rows = read(spark, servers, "spoilt", mode="permissive", **options).orderBy("offset").collect()
    assert [row.value and row.value.id for row in rows] == [1, None, None, None]
    assert [row._corrupt and bytes(row._corrupt.value) for row in rows] == [None, b"{", b'{"id": "x"}', None]
    assert "field id" in rows[2]._corrupt.error
    assert [row.key for row in rows] == ["k"] * 4


def test_a_generated_message_is_a_row(spark: "SparkSession", servers: str, registry: LocalRegistry) -> None:
    create_topics(servers, messages=1)
    options = {
        "value__format": "protobuf",
        "value__message": "e2e.dataframe.shop_message:Order",
        "schema__registry__url": registry.url,
    }
    columns = (
        "id LONG, note STRING, state STRING, tags ARRAY<STRING>, stock MAP<STRING, INT>, at TIMESTAMP, "
        "lines ARRAY<STRUCT<name: STRING, raw: BINARY>>"
    )
    lines = [{"name": "a", "raw": b"1"}, {"name": "b", "raw": b"2"}]
    full = (7, "hello", "PAID", ["x", "y"], {"left": 3}, at(5), lines)
    rows = spark.createDataFrame([full, (8, *[None] * 6)], columns)
    write(rows.selectExpr("struct(*) AS value"), servers, "messages", **options)
    got, empty = read(spark, servers, "messages", **options).select("value.*").orderBy("id").collect()
    found = plain(got)
    found["lines"] = [{**line, "raw": bytes(line["raw"])} for line in found["lines"]]
    assert found == dict(zip(found, full, strict=True))
    assert empty.asDict() == {
        "id": 8, "note": None, "state": "NEW", "tags": [], "stock": {}, "at": None, "lines": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"value__format": "avro"}, "needs .option\\('schema.registry.url'"),
        ({"value__format": "json"}, "json needs the columns"),
        ({"value__format": "xml"}, "must be one of"),
        ({"subscribePattern": "x"}, "exactly one of"),
        ({"startingOffsets": "now"}, "must be JSON such as"),
        ({"failOnDataLoss": "perhaps"}, "must be one of true, false"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    spark: "SparkSession", servers: str, options: dict[str, str], said: str
) -> None:
    with pytest.raises(Exception, match=said):
        read(spark, servers, "anything", **options)


def test_a_topic_without_a_schema_is_told(
    spark: "SparkSession", servers: str, registry: LocalRegistry
) -> None:
    options = {"value__format": "avro", "schema__registry__url": registry.url}
    with pytest.raises(Exception, match="has no schema for unknown-value"):
        read(spark, servers, "unknown", **options)
