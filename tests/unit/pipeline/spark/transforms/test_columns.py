"""Records as columns, and back."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DateType,
    DoubleType,
    LongType,
    StringType,
    StructType,
)

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.serdes import BYTES, DOUBLE, JSON, LONG, STRING, Serde
from moldau.pipeline.spark.transforms.incoming import InputLayout, RowDecodingError
from moldau.pipeline.spark.transforms.outgoing import OutputLayout, RowEncodingError
from moldau.pipeline.spark.transforms.places import order_ms_of, places

FIELDS = StructType().add("user", StringType()).add("amount", DoubleType())


def columns(*values: bytes | None, **more: Any) -> Columns:
    count = len(values)
    given: dict[str, Any] = {"writer": "00000000", **more}
    return Columns("t", 1, range(count), range(count), [b"k"] * count, values, **given)


def test_the_types_are_those_of_the_serdes() -> None:
    for serde, wanted in (
        (STRING, StringType()),
        (LONG, LongType()),
        (JSON, StringType()),
        (BYTES, BinaryType()),
    ):
        assert InputLayout("t", serde, serde, None).schema["value"].dataType == wanted
    assert InputLayout("t", STRING, JSON, FIELDS).schema.names == [
        "key",
        "user",
        "amount",
        "timestamp",
        "headers",
        "_order",
    ]


def test_a_value_is_taken_apart() -> None:
    layout = InputLayout("t", STRING, JSON, FIELDS)
    headers = [(("h", b"1"),), (), ()]
    rows = layout.rows(columns(b'{"user": "a", "amount": 2, "more": 1}', b"null", None, headers=headers))
    (first, second, third) = rows.to_pylist()
    assert (first["key"], first["user"], first["amount"]) == ("k", "a", 2.0)
    assert first["headers"] == [{"key": "h", "value": b"1"}] and second["headers"] is None
    assert second["user"] is second["amount"] is third["user"] is None


def test_what_does_not_fit_is_found() -> None:
    layout = InputLayout("t", STRING, JSON, FIELDS)
    given = columns(b'{"user": "a"}', b'{"amount": "much"}', b"no json", b"{}")
    assert [fault.index for fault in layout.faults(given)] == [1, 2]
    with pytest.raises(
        RowDecodingError, match=r"the record at t-1 offset 1 cannot be decoded: .*'much' is no number"
    ):
        layout.rows(given)


def test_a_late_record_has_its_place_behind_what_it_followed() -> None:
    given = columns(b"", b"", b"", order_ms=[5, 9, 7], writer="00000001")
    other = replace(given, order_ms=[6, 8, 9], writer="00000000")
    assert [order_ms_of(one) for one in places(given)] == [5, 9, 9]
    merged = sorted([*((one, "a") for one in places(given)), *((one, "b") for one in places(other))])
    assert "".join(name for _, name in merged) == "abbbaa"


def encoded(
    key: Serde, value: Serde, value_type: DataType, values: list[Any], **more: list[Any]
) -> list[dict[str, Any]]:
    layout = OutputLayout("t", key, value, StringType(), value_type)
    kinds = to_arrow_schema(StructType().add("value", value_type), timezone="UTC")
    times = pa.array([1_000_000] * len(values), pa.timestamp("us", "UTC"))
    arrays: dict[str, Any] = {
        "key": pa.array(["k"] * len(values)),
        "value": pa.array(values, kinds.field("value").type),
        "timestamp": times,
        **more,
    }
    (batch,) = layout.encoded([pa.RecordBatch.from_pydict(arrays)])
    found: list[dict[str, Any]] = batch.to_pylist()
    return found


def test_a_row_becomes_a_record() -> None:
    (one, none) = encoded(STRING, JSON, FIELDS, [{"user": "a", "amount": 2.5}, None])
    assert (one["key"], one["timestamp_ms"], one["headers"], one["order"]) == (b"k", 1_000, None, None)
    assert json.loads(one["value"]) == {"user": "a", "amount": 2.5}
    assert none["value"] is None
    assert encoded(STRING, LONG, LongType(), [3])[0]["value"] == bytes(7) + b"\x03"
    assert encoded(STRING, JSON, StringType(), ['{"a": 1}'])[0]["value"] == b'{"a": 1}'
    assert encoded(STRING, JSON, BinaryType(), [b"1"])[0]["value"] == b"1"
    assert encoded(STRING, JSON, LongType(), [1])[0]["value"] == b"1"
    assert encoded(STRING, BYTES, StringType(), ["text"])[0]["value"] == b"text"


@pytest.mark.parametrize(
    ("serde", "kind", "told"),
    [
        (
            STRING,
            LongType(),
            "the column value is bigint, but the stream's values are string: cast it to string",
        ),
        (DOUBLE, LongType(), "cast it to double, or give transform() the serde of what comes out: value="),
        (BYTES, DateType(), "cast it to BINARY"),
    ],
)
def test_columns_no_serde_can_write(serde: Serde, kind: DataType, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OutputLayout("t", STRING, serde, StringType(), kind)
    assert told in str(caught.value)


def test_a_row_without_a_time_is_no_record() -> None:
    with pytest.raises(RowEncodingError, match="a row has no timestamp"):
        encoded(STRING, STRING, StringType(), ["v"], timestamp=pa.array([None], pa.timestamp("us", "UTC")))
