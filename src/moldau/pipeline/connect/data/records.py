"""Records on their way through a connector: from a source before conversion, to a sink after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moldau.pipeline.connect.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Header:
    key: str
    value: Any
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What transformations see and replace."""

    topic: str
    key: Any = None
    value: Any = None
    key_schema: Schema | None = None
    value_schema: Schema | None = None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRecord(Record):
    """A source keeps its position as one offset for each partition of the source. Both are plain JSON objects."""

    source_partition: Mapping[str, Any] | None = None
    source_offset: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SinkRecord(Record):
    """`original_*` is where the record was read, before transformations changed the topic."""

    offset: int = -1
    original_topic: str = ""
    original_partition: int = -1
    is_log_append_time: bool = False
