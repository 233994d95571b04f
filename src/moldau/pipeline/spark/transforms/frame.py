"""Ranges of a topic as a DataFrame. One Spark task reads each range, also on a Spark Connect server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from confluent_kafka import Consumer

from moldau.pipeline.operators.records import Columns, DeadRecord
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.orders import Application
from moldau.pipeline.spark.positions import OffsetRange
from moldau.pipeline.spark.transforms.incoming import InputLayout
from moldau.pipeline.spark.worker.range_reader import RangeReader
from moldau.pipeline.spark.worker.repartition_headers import by_writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_MAX: Final = 10_000
"""In one Arrow batch."""
FAULTS: Final = (
    "partition int, offset bigint, timestamp_ms bigint, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>, reason string"
)

Skipped = frozenset[tuple[int, int]]
"""Partition and offset of records that are left out."""


@dataclass(frozen=True)
class Reading:
    """What the tasks must know. A task gets the numbers of its `ranges`."""

    layout: InputLayout
    ranges: tuple[OffsetRange, ...]
    bootstrap_servers: str
    client_settings: Mapping[str, str]
    group: str
    skipped: Skipped = frozenset()

    @classmethod
    def of(cls, layout: InputLayout, ranges: Iterable[OffsetRange], application: Application) -> "Reading":
        some = tuple(one for one in ranges if one.end_offset > one.start_offset)
        return cls(
            layout,
            some,
            application.bootstrap_servers,
            application.client_settings,
            application.application_id,
        )

    def rows(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for columns in self._read(numbers):
            yield self.layout.rows(columns)

    def faults(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for columns in self._read(numbers):
            yield _fault_rows(self.layout, columns)

    def _read(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[Columns]:
        consumer = Consumer(consumer_settings(self.bootstrap_servers, self.client_settings, self.group))
        try:
            reader = RangeReader(consumer)
            for number in [one for batch in numbers for one in batch.column("id").to_pylist()]:
                for columns in reader.read(self.ranges[number : number + 1]):
                    for of_writer in by_writer(_without(columns, self.skipped)):
                        yield from portions(of_writer)
        finally:
            consumer.close()


def frame_of(session: "SparkSession", reading: Reading) -> "DataFrame":
    numbers = _numbers(session, reading)
    return numbers.mapInArrow(reading.rows, reading.layout.schema)


def faults_of(session: "SparkSession", reading: Reading) -> list[DeadRecord]:
    """Returns the records of the ranges that cannot be decoded."""
    return [
        DeadRecord(
            reading.layout.topic,
            row["partition"],
            row["offset"],
            row["timestamp_ms"],
            None if row["key"] is None else bytes(row["key"]),
            None if row["value"] is None else bytes(row["value"]),
            tuple((one["key"], one["value"]) for one in row["headers"] or ()),
            row["reason"],
            "",
        )
        for row in _numbers(session, reading).mapInArrow(reading.faults, FAULTS).collect()
    ]


def portions(columns: Columns) -> Iterator[Columns]:
    """Splits the records of one writer. Order times are the highest so far, across portions too."""
    orders = list(accumulate(columns.timestamps_ms if columns.order_ms is None else columns.order_ms, max))
    for start in range(0, len(columns), ROWS_MAX):
        end = start + ROWS_MAX
        yield Columns(
            columns.topic,
            columns.partition,
            columns.offsets[start:end],
            columns.timestamps_ms[start:end],
            columns.keys[start:end],
            columns.values[start:end],
            None if columns.headers is None else columns.headers[start:end],
            orders[start:end],
            columns.writer,
        )


def _numbers(session: "SparkSession", reading: Reading) -> "DataFrame":
    count = max(1, len(reading.ranges))
    return session.range(0, len(reading.ranges), 1, count)


def _without(columns: Columns, skipped: Skipped) -> Columns:
    mine = {offset for partition, offset in skipped if partition == columns.partition}
    if not mine:
        return columns
    kept = [index for index, offset in enumerate(columns.offsets) if offset not in mine]
    return _picked(columns, kept)


def _picked(columns: Columns, indexes: Sequence[int]) -> Columns:
    def some(values: Sequence) -> list:  # type: ignore[type-arg]
        return [values[index] for index in indexes]

    return Columns(
        columns.topic,
        columns.partition,
        some(columns.offsets),
        some(columns.timestamps_ms),
        some(columns.keys),
        some(columns.values),
        None if columns.headers is None else some(columns.headers),
    )


def _fault_rows(layout: InputLayout, columns: Columns) -> pa.RecordBatch:
    faults = layout.faults(columns)
    found = _picked(columns, [fault.index for fault in faults])
    headers = found.headers or [()] * len(found)
    return pa.record_batch(
        {
            "partition": pa.array([columns.partition] * len(found), pa.int32()),
            "offset": pa.array(found.offsets, pa.int64()),
            "timestamp_ms": pa.array(found.timestamps_ms, pa.int64()),
            "key": pa.array(found.keys, pa.binary()),
            "value": pa.array(found.values, pa.binary()),
            "headers": pa.array(
                [[{"key": name, "value": data} for name, data in one] for one in headers],
                pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
            ),
            "reason": pa.array([fault.reason for fault in faults], pa.string()),
        }
    )
