"""Records on their way through a connector: from a source before conversion, to a sink after it.

A record is not changed after it has been passed on: change a `copy` instead. The class is not frozen, because a frozen
one takes ten times as long to make.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, Self, overload

from moldau.pipeline.connect.data.schema import STRING, Schema, SchemaType

OPTIONAL_STRING: Final = Schema(SchemaType.STRING, optional=True)
OPTIONAL_BYTES: Final = Schema(SchemaType.BYTES, optional=True)


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
        """A record that may be changed before it is passed on."""
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


class SourceTexts(Sequence[SourceRecord]):
    """Many records of one topic that have a text, in UTF-8, and nothing else. It is a sequence of records like any
    other, but a task whose converter writes texts as they are never makes the records."""

    __slots__ = ("source_offset", "source_partition", "texts", "topic")

    def __init__(
        self,
        topic: str,
        texts: Sequence[bytes],
        source_partition: Mapping[str, Any] | None,
        source_offset: Mapping[str, Any] | None,
    ) -> None:
        """The offset is that behind the last text: all of them are written in one transaction."""
        self.topic = topic
        self.texts = texts
        self.source_partition = source_partition
        self.source_offset = source_offset

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> SourceRecord: ...

    @overload
    def __getitem__(self, index: slice) -> "SourceTexts": ...

    def __getitem__(self, index: int | slice) -> "SourceRecord | SourceTexts":
        if isinstance(index, slice):
            return SourceTexts(self.topic, self.texts[index], self.source_partition, self.source_offset)
        return SourceRecord(
            self.topic,
            value=self.texts[index].decode(errors="replace"),
            value_schema=STRING,
            source_partition=self.source_partition,
            source_offset=self.source_offset,
        )


class SourceBytes(Sequence[SourceRecord]):
    """Records of one partition whose keys, values and headers are bytes, to be written to the same partition of
    `topic`. A sequence of records like any other, but a task whose converters pass bytes on never makes the records."""

    __slots__ = (
        "headers",
        "keys",
        "offset_of",
        "partition",
        "source_partition",
        "timestamps_ms",
        "topic",
        "values",
    )

    def __init__(
        self,
        topic: str,
        partition: int | None,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps_ms: Sequence[int],
        headers: Sequence[Sequence[tuple[str, bytes | None]] | None] | None,
        source_partition: Mapping[str, Any] | None,
        offset_of: Callable[[int], Mapping[str, Any] | None],
    ) -> None:
        """`headers` is None if no record has any. `offset_of` answers the source offset of a record by its index."""
        self.topic, self.partition = topic, partition
        self.keys, self.values, self.timestamps_ms, self.headers = keys, values, timestamps_ms, headers
        self.source_partition, self.offset_of = source_partition, offset_of

    @property
    def source_offset(self) -> Mapping[str, Any] | None:
        """That of the last record: all of them are written in one transaction."""
        return self.offset_of(len(self.values) - 1)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> SourceRecord: ...

    @overload
    def __getitem__(self, index: slice) -> list[SourceRecord]: ...

    def __getitem__(self, index: int | slice) -> "SourceRecord | list[SourceRecord]":
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        headers = self.headers[index] if self.headers is not None else None
        return SourceRecord(
            self.topic,
            key=self.keys[index],
            value=self.values[index],
            key_schema=OPTIONAL_BYTES,
            value_schema=OPTIONAL_BYTES,
            partition=self.partition,
            timestamp_ms=self.timestamps_ms[index],
            headers=tuple(Header(key, value, OPTIONAL_BYTES) for key, value in headers or ()),
            source_partition=self.source_partition,
            source_offset=self.offset_of(index),
        )


class SourceParts(Sequence[SourceRecord]):
    """What a poll returns that has records of several partitions: one sequence after the other."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Sequence[SourceRecord]]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[SourceRecord]:
        for part in self.parts:
            yield from part

    @overload
    def __getitem__(self, index: int) -> SourceRecord: ...

    @overload
    def __getitem__(self, index: slice) -> list[SourceRecord]: ...

    def __getitem__(self, index: int | slice) -> "SourceRecord | list[SourceRecord]":
        return list(self)[index]


class SinkTexts(Sequence[SinkRecord]):
    """Records of one partition whose values are texts, in UTF-8, without transformations. A sequence of records like
    any other; a connector that only wants the texts takes `texts`."""

    __slots__ = ("_record_of", "partition", "texts", "topic")

    def __init__(
        self,
        topic: str,
        partition: int,
        texts: Sequence[bytes | None],
        record_of: Callable[[int], SinkRecord],
    ) -> None:
        """`record_of` answers a whole record by its index."""
        self.topic, self.partition, self.texts, self._record_of = topic, partition, texts, record_of

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> SinkRecord: ...

    @overload
    def __getitem__(self, index: slice) -> "SinkTexts": ...

    def __getitem__(self, index: int | slice) -> "SinkRecord | SinkTexts":
        if isinstance(index, slice):
            places, record_of = range(len(self))[index], self._record_of
            return SinkTexts(self.topic, self.partition, self.texts[index], lambda at: record_of(places[at]))
        return self._record_of(range(len(self))[index])
