"""Schemas to column types and back, values to columns and back."""

import datetime
import decimal
import json
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
)

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.row_values import from_row, to_row
from moldau.spark.avro_types import avro_of, spark_type_of_avro
from moldau.spark.json_types import json_schema_of, spark_type_of_json_schema
from moldau.spark.outgoing import _times

ROW = (
    StructType()
    .add("id", LongType(), nullable=False)
    .add("name", StringType())
    .add("sum", DecimalType(10, 2))
    .add("at", TimestampType())
    .add("day", DateType())
    .add("raw", BinaryType())
    .add("paid", BooleanType())
    .add("tags", ArrayType(StringType()))
    .add("stock", MapType(StringType(), IntegerType()))
    .add("buyer", StructType().add("age", IntegerType()).add("share", DoubleType()))
)


def test_an_avro_schema_made_from_columns_means_these_columns() -> None:
    assert spark_type_of_avro(avro_of(ROW)) == ROW


def test_a_json_schema_made_from_columns_means_columns_as_wide() -> None:
    got = spark_type_of_json_schema(json_schema_of(ROW))
    assert isinstance(got, StructType)
    assert got.names == ROW.names
    widened = {"id": LongType(), "sum": DoubleType(), "stock": MapType(StringType(), LongType())}
    for name in ("id", "name", "sum", "at", "day", "raw", "paid", "tags", "stock"):
        assert got[name].dataType == widened.get(name, ROW[name].dataType)


def test_a_json_schema_may_refer_to_its_own_parts() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#/definitions/n"},
            "b": {"anyOf": [{"type": "null"}, {"type": "number"}]},
        },
        "definitions": {"n": {"type": ["null", "integer"]}},
    }
    assert spark_type_of_json_schema(json.dumps(schema)) == StructType().add("a", LongType()).add(
        "b", DoubleType()
    )


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            {"type": "record", "name": "R", "fields": [{"name": "u", "type": ["int", "string"]}]},
            "union of several",
        ),
        (
            {"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]},
            "contains itself",
        ),
        ({"type": "record", "name": "R", "fields": [{"name": "x", "type": "Nobody"}]}, "does not define"),
    ],
)
def test_what_no_column_holds_is_refused(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        spark_type_of_avro(json.dumps(schema))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (LongType(), 5, 5),
        (StringType(), {"a": 1}, '{"a":1}'),
        (BinaryType(), "AQI=", b"\1\2"),
        (DoubleType(), 3, 3.0),
        (DecimalType(6, 2), "1.5", decimal.Decimal("1.50")),
        (DateType(), "2026-02-03", datetime.date(2026, 2, 3)),
        (
            TimestampType(),
            "2026-02-03T04:05:06Z",
            datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.UTC),
        ),
        (TimestampType(), 1.5, datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=datetime.UTC)),
        (StructType().add("a", IntegerType()), {"b": 1}, {"a": None}),
        (MapType(StringType(), LongType()), {"a": 1}, [("a", 1)]),
        (ArrayType(LongType()), [1, None], [1, None]),
    ],
)
def test_values_fit_their_columns(kind: DataType, value: object, expected: object) -> None:
    assert to_row(kind)(value) == expected
    assert to_row(kind)(None) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (IntegerType(), 1 << 31),
        (LongType(), True),
        (LongType(), 1.5),
        (DoubleType(), "1"),
        (BooleanType(), 1),
        (DateType(), "soon"),
        (BinaryType(), "?"),
        (StructType().add("a", LongType()), [1]),
        (ArrayType(LongType()), {"a": 1}),
    ],
)
def test_what_does_not_fit_is_an_error_of_its_record(kind: DataType, value: object) -> None:
    with pytest.raises(ValueError):
        to_row(kind)(value)


def test_rows_become_what_json_can_hold() -> None:
    row = {
        "id": 1,
        "name": None,
        "sum": decimal.Decimal("1.50"),
        "at": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        "day": datetime.date(2026, 1, 2),
        "raw": b"\1\2",
        "paid": True,
        "tags": ["a"],
        "stock": [("left", 3)],
        "buyer": {"age": 1, "share": 0.5},
    }
    assert json.loads(json.dumps(from_row(ROW, as_json=True)(row))) == {
        **row,
        "sum": 1.5,
        "at": "2026-01-01T00:00:00+00:00",
        "day": "2026-01-02",
        "raw": "AQI=",
        "stock": {"left": 3},
    }


def test_a_time_of_0_is_written_with_1_and_none_with_the_current_time() -> None:
    moments = pa.array([0, None, 1_000, 7_000], pa.timestamp("us", "UTC"))
    assert _times(moments).to_pylist() == [1, 0, 1, 7]
