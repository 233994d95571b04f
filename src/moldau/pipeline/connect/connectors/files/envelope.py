"""A record as one row: key, value, headers, timestamp and where it was, so that a file is a faithful backup.

Headers are texts, as Kafka's SimpleHeaderConverter writes them.
"""

from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.header_texts import read_text, text_of
from moldau.pipeline.connect.data.logical import moment_of, ms_of
from moldau.pipeline.connect.data.records import Header, SinkRecord
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

NAME: Final = "moldau.connect.Record"
HEADER: Final = schemas.struct(
    {"key": schemas.STRING, "value": Schema(SchemaType.STRING, optional=True)}, name="moldau.connect.Header"
)
FIELDS: Final = ("topic", "partition", "offset", "timestamp", "key", "headers", "value")
_OPTIONAL_STRING: Final = Schema(SchemaType.STRING, optional=True)


def _optional(schema: Schema) -> Schema:
    if schema.optional and schema.default is None:
        return schema
    return replace(schema, optional=True, default=None)


def _of_pair(pair: Schema) -> Schema:
    key, value = pair.key_schema, pair.value_schema
    assert key is not None and value is not None
    return schemas.struct(
        {
            "topic": schemas.STRING,
            "partition": schemas.INT32,
            "offset": schemas.INT64,
            "timestamp": schemas.timestamp(optional=True),
            "key": _optional(key),
            "headers": schemas.array(HEADER),
            "value": _optional(value),
        },
        name=NAME,
        version=value.version,
    )


class Envelopes:
    """Of one open chunk: a tombstone has no schema, and takes that of the records before it."""

    def __init__(self, *, needs_schema: bool) -> None:
        self._needs_schema = needs_schema
        self._schemas = Derived(_of_pair)
        self._pair: Schema | None = None

    def row_of(self, record: SinkRecord) -> tuple[Schema | None, Any]:
        """Schema and value. Without a schema, if the record's value has none."""
        last = self._pair
        is_plain_tombstone = record.value is None and last is None and not self._needs_schema
        if record.value_schema is None and (record.value is not None or is_plain_tombstone):
            return None, dict(
                zip(FIELDS, (*_facts(record), record.key, _headers(record), record.value), strict=True)
            )
        key_schema = record.key_schema or (last.key_schema if last and record.key is None else None)
        value_schema = record.value_schema or (last.value_schema if last else None)
        key = record.key
        if key_schema is None and key is not None:
            key_schema, key = _OPTIONAL_STRING, text_of(key)
        key_schema, value_schema = key_schema or _OPTIONAL_STRING, value_schema or _OPTIONAL_STRING
        if last is None or last.key_schema is not key_schema or last.value_schema is not value_schema:
            # A map is a schema that has two others.
            self._pair = schemas.mapping(key_schema, value_schema)
        assert self._pair is not None
        schema = self._schemas.of(self._pair)
        headers = [Struct(HEADER, (one["key"], one["value"])) for one in _headers(record)]
        topic, partition, offset, ms = _facts(record)
        moment = None if ms is None else moment_of(ms)
        return schema, Struct(schema, (topic, partition, offset, moment, key, headers, record.value))


def _facts(record: SinkRecord) -> tuple[str, int, int, int | None]:
    return record.original_topic, record.original_partition, record.offset, record.timestamp_ms


def _headers(record: SinkRecord) -> list[dict[str, Any]]:
    return [
        {"key": one.key, "value": None if one.value is None else text_of(one.value, one.schema)}
        for one in record.headers
    ]


class Unpacked:
    """A row that has been a record."""

    __slots__ = (
        "headers",
        "key",
        "key_schema",
        "partition",
        "timestamp_ms",
        "topic",
        "value",
        "value_schema",
    )

    def __init__(self, schema: Schema | None, row: Any) -> None:
        self.topic: str = row["topic"]
        self.partition: int = row["partition"]
        moment = row["timestamp"]
        self.timestamp_ms: int | None = moment if moment is None or type(moment) is int else ms_of(moment)
        self.key_schema, self.key = _part(schema, row, "key")
        self.value_schema, self.value = _part(schema, row, "value")
        self.headers = tuple(_header(one["key"], one["value"]) for one in row["headers"])


def is_envelope(schema: Schema | None, row: Any) -> bool:
    if schema is not None:
        return schema.type is SchemaType.STRUCT and tuple(schema.index) == FIELDS
    return isinstance(row, dict) and tuple(row) == FIELDS


def _part(schema: Schema | None, row: Any, name: str) -> tuple[Schema | None, Any]:
    """A struct is required, as converters of records make it; an envelope allows null instead of it."""
    field: Field | None = None if schema is None else schema.field(name)
    value = row[name]
    if field is None or value is None:
        return None, value
    if isinstance(value, Struct):
        required = _REQUIRED.of(field.schema)
        return required, Struct(required, value.values)
    return field.schema, value


_REQUIRED: Final = Derived(lambda schema: replace(schema, optional=False))


def _header(key: str, text: str | None) -> Header:
    if text is None:
        return Header(key, None)
    typed = read_text(text)
    return Header(key, typed.value, typed.schema)
