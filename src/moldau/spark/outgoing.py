"""Converts rows of a DataFrame to records: checks the columns and encodes them. Runs in the tasks."""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    DataType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
)

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.spark.clients import TIMESTAMP_MS_MIN
from moldau.spark.formats import Encode, Format, format_for
from moldau.spark.options import SinkOptions

HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_EXPECTED: Final[dict[str, DataType]] = {
    "topic": StringType(),
    "partition": IntegerType(),
    "timestamp": TimestampType(),
}
COLUMNS: Final = ("key", "value", *_EXPECTED, "headers")


class UnwritableRow(MoldauError):
    """A row that cannot become a record."""


class Encoding:
    """Created in the driver, so that a wrong column is reported before anything runs. Sent to the tasks."""

    def __init__(self, sink: SinkOptions, schema: StructType) -> None:
        self._topic = sink.topic
        self._names = schema.names
        _check(sink, schema)
        self._key = self._format(schema, sink, is_key=True)
        self._value = self._format(schema, sink, is_key=False)

    def batch(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The column value, and key, topic, partition, timestamp_ms and headers if the rows have them."""
        topics = self._topics(rows)
        columns = {"value": self._encoded(rows, "value", self._value, topics)}
        if self._key is not None:
            columns["key"] = self._encoded(rows, "key", self._key, topics)
        if topics is not None:
            columns["topic"] = topics
        if "partition" in self._names:
            columns["partition"] = rows.column("partition").cast(pa.int32()).fill_null(-1)
        if "timestamp" in self._names:
            columns["timestamp_ms"] = _times(rows.column("timestamp"))
        if "headers" in self._names:
            columns["headers"] = rows.column("headers").cast(HEADERS)
        return pa.RecordBatch.from_pydict(columns)

    def _format(self, schema: StructType, sink: SinkOptions, *, is_key: bool) -> Format | None:
        side, wanted = ("key", sink.key) if is_key else ("value", sink.value)
        if side not in schema.names:
            return None
        return format_for(wanted, sink.registry, schema[side].dataType, is_key=is_key)

    def _topics(self, rows: pa.RecordBatch) -> pa.Array | None:
        """None: all rows go to the topic of the option, which overrides the column, as in Spark's connector."""
        if self._topic is not None:
            return None
        topics = rows.column("topic")
        if topics.null_count:
            raise UnwritableRow(
                "a row has no topic: fill the column topic, or name one with .option('topic', ...)"
            )
        return topics

    def _encoded(
        self, rows: pa.RecordBatch, side: str, wanted: Format | None, topics: pa.Array | None
    ) -> pa.Array:
        assert wanted is not None
        column = rows.column(side)
        if wanted.name in ("binary", "string"):
            return column.cast(pa.binary())
        if topics is None:
            assert self._topic is not None
            encode = self._encode(wanted, self._topic, side)
            return pa.array([encode(value) for value in column.to_pylist()], pa.binary())
        names = topics.to_pylist()
        encoders = {name: self._encode(wanted, name, side) for name in set(names)}
        pairs = zip(names, column.to_pylist(), strict=True)
        return pa.array([encoders[name](value) for name, value in pairs], pa.binary())

    def _encode(self, wanted: Format, topic: str, side: str) -> Encode:
        key = (topic, side)
        if key not in _encoders(self):
            made = wanted.encoder(topic, is_key=side == "key")
            assert made is not None
            _encoders(self)[key] = _explained(made, topic, side)
        return _encoders(self)[key]


def _times(moments: pa.Array) -> pa.Array:
    """In milliseconds. 0 for a row without a timestamp: the time of writing."""
    times_ms = moments.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())
    if (pc.min(times_ms).as_py() or 0) < 0:
        raise UnwritableRow("a row has a timestamp before 1970, which is not possible for a record")
    return pc.max_element_wise(times_ms, TIMESTAMP_MS_MIN, skip_nulls=False).fill_null(0)


def _encoders(encoding: Encoding) -> dict[tuple[str, str], Encode]:
    """Created where they are used: they have clients, which cannot be pickled."""
    return encoding.__dict__.setdefault("_made", {})  # type: ignore[no-any-return]


def _explained(encode: Encode, topic: str, side: str) -> Callable[[Any], bytes | None]:
    def explained(value: Any) -> bytes | None:
        try:
            return encode(value)
        except MoldauError:
            raise
        except Exception as failure:
            raise UnwritableRow(
                f"the {side} {value!r:.200} cannot be written to {topic}: {type(failure).__name__}: {failure}"
            ) from failure

    return explained


def _check(sink: SinkOptions, schema: StructType) -> None:
    strangers = [name for name in schema.names if name not in COLUMNS]
    if strangers:
        raise ConfigError(
            f"a record has no column {strangers[0]}: it has {', '.join(COLUMNS)}. To write whole rows as values: "
            "df.select(struct('*').alias('value')) with .option('value.format', 'json')"
        )
    if "value" not in schema.names:
        raise ConfigError("there is no column value to write: name one, df.select(....alias('value'))")
    if sink.topic is None and "topic" not in schema.names:
        raise ConfigError("no topic to write to: .option('topic', 'orders'), or a column topic")
    for name, expected in _EXPECTED.items():
        if name in schema.names and schema[name].dataType != expected:
            given = schema[name].dataType.simpleString()
            raise ConfigError(f"the column {name} is {given}: cast it to {expected.simpleString()}")
    if "headers" in schema.names:
        _check_headers(schema["headers"].dataType)


def _check_headers(given: DataType) -> None:
    if isinstance(given, ArrayType) and isinstance(given.elementType, StructType):
        names = [(field.name, field.dataType.simpleString()) for field in given.elementType.fields]
        if names == [("key", "string"), ("value", "binary")]:
            return
    raise ConfigError(
        f"the column headers is {given.simpleString()}: it must be array<struct<key:string,value:binary>>"
    )
