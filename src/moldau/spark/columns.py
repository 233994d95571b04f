"""The columns of a DataFrame of records, and the conversion of consumed messages to Arrow batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
from confluent_kafka import Message
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.serdes.serde import ServiceAway
from moldau.spark.formats import Format, format_of
from moldau.spark.options import SourceOptions
from moldau.spark.topics import Place

CORRUPT: Final = "_corrupt"
HEADERS: Final = ArrayType(StructType().add("key", StringType()).add("value", BinaryType()))
CORRUPT_TYPE: Final = (
    StructType().add("error", StringType()).add("key", BinaryType()).add("value", BinaryType())
)
_FIRST: Final = itemgetter(0)
_SECOND: Final = itemgetter(1)


class UndecodableRecord(MoldauError):
    """The bytes of a record are not in the format that the user named."""


@dataclass(frozen=True)
class RowLayout:
    """The columns of Spark's Kafka connector. `key` and `value` are decoded if they have a format."""

    key: Format
    value: Format
    include_headers: bool
    permissive: bool

    @classmethod
    def of(cls, source: SourceOptions) -> "RowLayout":
        topics = source.subscription.named_topics
        return cls(
            format_of(source.key, source.registry, topics, is_key=True),
            format_of(source.value, source.registry, topics, is_key=False),
            source.include_headers,
            source.permissive,
        )

    @property
    def schema(self) -> StructType:
        fields = (
            StructType()
            .add("key", self.key.column_type)
            .add("value", self.value.column_type)
            .add("topic", StringType())
            .add("partition", IntegerType())
            .add("offset", LongType())
            .add("timestamp", TimestampType())
            .add("timestampType", IntegerType())
        )
        if self.include_headers:
            fields = fields.add("headers", HEADERS)
        return fields.add(CORRUPT, CORRUPT_TYPE) if self.permissive else fields

    @property
    def declared(self) -> StructType | str:
        """The schema for Spark, as DDL if only Spark can parse it."""
        words = {"key": self.key.ddl, "value": self.value.ddl}
        if not any(words.values()):
            return self.schema
        return ", ".join(
            f"{field.name} {words.get(field.name) or field.dataType.simpleString()}" for field in self.schema
        )

    def understood(self, schema: StructType) -> "RowLayout":
        """With the schema that Spark parsed from the DDL."""
        if schema.names != self.schema.names:
            raise ConfigError(
                f"the format moldau has columns of its own ({', '.join(self.schema.names)}) and takes no schema from "
                "outside: leave .schema(...) out; .option('value.schema', ...) is for the values"
            )
        key, value = (
            replace(one, column_type=schema[side].dataType) if one.ddl else one
            for side, one in (("key", self.key), ("value", self.value))
        )
        return replace(self, key=key, value=value)


class RowBuilder:
    """Converts the records of one topic."""

    def __init__(self, layout: RowLayout, place: Place) -> None:
        self._layout = layout
        self._place = place
        self._topic, self._partition = pa.scalar(place.topic), pa.scalar(place.partition, pa.int32())
        self._arrow = to_arrow_schema(layout.schema, timezone="UTC")
        self._decode_key = layout.key.decoder(place.topic, is_key=True)
        self._decode_value = layout.value.decoder(place.topic, is_key=False)
        self._key_type = to_arrow_type(layout.key.column_type, timezone="UTC")
        self._value_type = to_arrow_type(layout.value.column_type, timezone="UTC")

    def batch(self, messages: Sequence[Message]) -> pa.RecordBatch:
        # With `map`, because calling each method for each record is most of the cost of reading.
        count = len(messages)
        keys = list(map(Message.key, messages))
        values = list(map(Message.value, messages))
        stamps = list(map(Message.timestamp, messages))
        corrupt: list[dict[str, Any] | None] = [None] * count
        raw = (keys, values)
        columns = [
            self._decoded(keys, self._decode_key, self._key_type, messages, raw, corrupt),
            self._decoded(values, self._decode_value, self._value_type, messages, raw, corrupt),
            pa.repeat(self._topic, count),
            pa.repeat(self._partition, count),
            _offsets(messages),
            pa.array(list(map(_SECOND, stamps)), pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC")),
            _kinds(stamps),
        ]
        if self._layout.include_headers:
            columns.append(
                pa.array([_headers(message) for message in messages], self._arrow.field("headers").type)
            )
        if self._layout.permissive:
            columns.append(pa.array(corrupt, self._arrow.field(CORRUPT).type))
        return pa.RecordBatch.from_arrays(columns, schema=self._arrow)

    def _decoded(
        self,
        raw: list[bytes | None],
        decode: Callable[[bytes | None], Any] | None,
        kind: pa.DataType,
        messages: Sequence[Message],
        record: tuple[list[bytes | None], list[bytes | None]],
        corrupt: list[dict[str, Any] | None],
    ) -> pa.Array:
        if decode is None:
            return pa.array(raw, kind)
        decoded = []
        for number, data in enumerate(raw):
            try:
                decoded.append(decode(data))
            except ServiceAway:
                raise
            except Exception as failure:  # noqa: BLE001  the codec is the client library's: what it raises is its own
                if not self._layout.permissive:
                    self._refuse(messages[number], failure)
                decoded.append(None)
                keys, values = record
                corrupt[number] = {"error": _said(failure), "key": keys[number], "value": values[number]}
        return pa.array(decoded, kind)

    def _refuse(self, message: Message, failure: Exception) -> None:
        topic, partition = self._place
        raise UndecodableRecord(
            f"the record at {topic}-{partition} offset {message.offset()} cannot be decoded: {_said(failure)}. "
            f".option('mode', 'permissive') puts such records into the column {CORRUPT} instead"
        ) from failure


def offset_of(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def _offsets(messages: Sequence[Message]) -> pa.Array:
    """Offsets increase, nearly always by one, except across compacted records and transaction markers."""
    first, last = offset_of(messages[0]), offset_of(messages[-1])
    if last - first == len(messages) - 1:
        return pa.array(np.arange(first, last + 1))
    return pa.array(list(map(Message.offset, messages)), pa.int64())


def _kinds(stamps: Sequence[tuple[int, int]]) -> pa.Array:
    """Timestamp types. Spark counts from -1 (none), librdkafka from 0. Nearly always the same for all records."""
    kinds = set(map(_FIRST, stamps))
    if len(kinds) == 1:
        return pa.repeat(pa.scalar(kinds.pop() - 1, pa.int32()), len(stamps))
    return pa.array([kind - 1 for kind, _ in stamps], pa.int32())


def _said(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}"[:500]


def _headers(message: Message) -> list[dict[str, Any]] | None:
    given: Any = message.headers()
    return [{"key": name, "value": value} for name, value in given] if given else None
