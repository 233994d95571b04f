"""Decodes records into rows for a function of DataFrames. Runs in Spark's tasks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, StructField, StructType, TimestampType

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.serdes.serde import Serde, ServiceAway
from moldau.pipeline.spark.row_values import PLAIN, to_row
from moldau.pipeline.spark.transforms.columns import (
    HEADERS,
    HEADERS_TYPE,
    KEY,
    ORDER,
    TIMESTAMP,
    VALUE,
    column_type,
)
from moldau.pipeline.spark.transforms.places import places

Decode = Callable[[bytes | None], Any]


class RowDecodingError(MoldauError):
    """A record that does not fit its columns."""


@dataclass(frozen=True)
class Fault:
    """A record that cannot be decoded, and its index in the given columns."""

    index: int
    reason: str


@dataclass(frozen=True)
class InputLayout:
    """`fields` None: the value is one column."""

    topic: str
    key: Serde
    value: Serde
    fields: StructType | None

    @property
    def schema(self) -> StructType:
        value = [StructField(VALUE, column_type(self.value))] if self.fields is None else self.fields.fields
        return StructType(
            [
                StructField(KEY, column_type(self.key)),
                *value,
                StructField(TIMESTAMP, TimestampType()),
                StructField(HEADERS, HEADERS_TYPE),
                StructField(ORDER, BinaryType()),
            ]
        )

    def faults(self, columns: Columns) -> list[Fault]:
        """Returns the records that cannot be decoded."""
        found = []
        for index, (key, value) in enumerate(zip(columns.keys, columns.values, strict=True)):
            try:
                self._decoded([key], [value])
            except ServiceAway:
                raise
            except Exception as failure:  # noqa: BLE001  codecs raise errors of any kind
                found.append(Fault(index, f"{type(failure).__name__}: {failure}"))
        return found

    def rows(self, columns: Columns) -> pa.RecordBatch:
        """`columns` are the records of one writer, without stamps."""
        try:
            keys, values = self._decoded(columns.keys, columns.values)
        except ServiceAway:
            raise
        except Exception as failure:
            raise RowDecodingError(_first_fault(columns, self.faults(columns), failure)) from failure
        arrow = to_arrow_schema(self.schema, timezone="UTC")
        times = pa.array(columns.timestamps_ms, pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
        headers: list[Any] = [None] * len(columns)
        if columns.headers is not None:
            headers = [
                [{"key": name, "value": data} for name, data in one] or None for one in columns.headers
            ]
        arrays = [
            keys,
            *values,
            times,
            pa.array(headers, arrow.field(HEADERS).type),
            pa.array(places(columns), pa.binary()),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=arrow)

    def _decoded(
        self, keys: Sequence[bytes | None], values: Sequence[bytes | None]
    ) -> tuple[pa.Array, list[pa.Array]]:
        arrow = to_arrow_schema(self.schema, timezone="UTC")
        key_column = pa.array(_each(_decoder(self.key, self.topic, is_key=True), keys), arrow.field(KEY).type)
        if self.fields is None:
            decoded = _each(_decoder(self.value, self.topic, is_key=False), values)
            return key_column, [pa.array(decoded, arrow.field(VALUE).type)]
        decode = self.value.decoder(self.topic, is_key=False)
        shape = to_row(self.fields)
        rows = [shape(decode(data)) or {} for data in values]
        return key_column, [
            pa.array([row.get(field.name) for row in rows], arrow.field(field.name).type)
            for field in self.fields.fields
        ]


def _each(decode: Decode | None, given: Sequence[bytes | None]) -> Sequence[Any]:
    return given if decode is None else [decode(data) for data in given]


def _decoder(serde: Serde, topic: str, *, is_key: bool) -> Decode | None:
    if serde.name in PLAIN:
        return serde.decoder(topic, is_key=is_key)
    if serde.name == "json":
        return lambda data: None if data is None else data.decode()
    return None


def _first_fault(columns: Columns, faults: list[Fault], failure: Exception) -> str:
    if not faults:
        return f"records of {columns.topic}-{columns.partition} cannot be read: {failure}"
    first = faults[0]
    return (
        f"the record at {columns.topic}-{columns.partition} offset {columns.offsets[first.index]} cannot be decoded: "
        f"{first.reason}"
    )
