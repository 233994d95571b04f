"""Records on their way through a connector: from a source before conversion, to a sink after it.

Nobody changes a record after it was passed on: who wants another one changes its `copy`. They are not frozen, because
a frozen one takes ten times as long to make.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, Self

from moldau.pipeline.connect.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Header:
    key: str
    value: Any
    schema: Schema | None = None


@dataclass(slots=True)
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

    def copy(self) -> Self:
        """For the one who changes it before passing it on."""
        kind = type(self)
        return kind(*_PARTS[kind](self))


@dataclass(slots=True)
class SourceRecord(Record):
    """A source keeps its position as one offset for each partition of the source. Both are plain JSON objects."""

    source_partition: Mapping[str, Any] | None = None
    source_offset: Mapping[str, Any] | None = None


@dataclass(slots=True)
class SinkRecord(Record):
    """`original_*` is where the record was read, before transformations changed the topic."""

    offset: int = -1
    original_topic: str = ""
    original_partition: int = -1
    is_log_append_time: bool = False


_PARTS: Final[dict[type[Record], Callable[[Record], tuple[Any, ...]]]] = {
    kind: attrgetter(*(one.name for one in fields(kind))) for kind in (Record, SourceRecord, SinkRecord)
}
