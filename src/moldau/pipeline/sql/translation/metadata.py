"""What is known of a record beside its key and value, as columns behind those of its value."""

from collections.abc import Callable, Sequence
from typing import Any

from moldau.pipeline.code.source import FAILURES
from moldau.pipeline.operators.processors import ProcessorContext, Record
from moldau.pipeline.operators.records import Headers
from moldau.pipeline.sql.definitions import HeaderColumn
from moldau.pipeline.sql.translation.row import OnFailure

Metadata = HeaderColumn | str
"""A header column, or ROWPARTITION or ROWOFFSET."""


def metadata_row(
    metadata: Sequence[Metadata], partition: int, offset: int, headers: Headers
) -> tuple[Any, ...]:
    return tuple(_column(one, partition, offset, headers) for one in metadata)


def _column(one: Metadata, partition: int, offset: int, headers: Headers) -> Any:
    match one:
        case "ROWPARTITION":
            return partition
        case "ROWOFFSET":
            return offset
        case HeaderColumn(header=None):
            return [{"KEY": name, "VALUE": value} for name, value in headers]
        case HeaderColumn(header=wanted):
            return next((value for name, value in reversed(headers) if name == wanted), None)
    raise TypeError(f"{one!r} is not metadata of a record")


class AddToStream:
    """A processor of values."""

    def __init__(self, metadata: Sequence[Metadata]) -> None:
        self._metadata = metadata

    def init(self, context: ProcessorContext) -> None:
        self._context = context

    def process(self, record: Record) -> None:
        context = self._context
        if record.value is not None:
            more = metadata_row(self._metadata, context.partition, context.offset, record.headers)
            record = record.with_value((*record.value, *more))
        context.forward(record)


class AddToTable:
    """A transformer of values."""

    def __init__(self, metadata: Sequence[Metadata]) -> None:
        self._metadata = metadata

    def init(self, context: ProcessorContext) -> None:
        self._context = context

    def transform(self, key: Any, value: Any) -> Any:
        if value is None:
            return None
        context = self._context
        return (*value, *metadata_row(self._metadata, context.partition, context.offset, ()))


class SetTime:
    """A processor of values: the record's time comes from a column of its value. A record without one, or with one that
    is no time, keeps its own."""

    def __init__(self, index: int, column: str, reader: Callable[[Any], int], on_failure: OnFailure) -> None:
        self._index = index
        self._column = column
        self._reader = reader
        self._on_failure = on_failure

    def init(self, context: ProcessorContext) -> None:
        self._context = context

    def process(self, record: Record) -> None:
        value = None if record.value is None else record.value[self._index]
        if value is not None:
            record = record.with_timestamp(self._time_of(value, record))
        self._context.forward(record)

    def _time_of(self, value: Any, record: Record) -> int:
        try:
            timestamp_ms = self._reader(value)
            if timestamp_ms < 0:
                raise ValueError(f"{timestamp_ms} is before 1970")
        except FAILURES as failure:
            self._on_failure(self._column, failure, record.value)
            return record.timestamp_ms
        return timestamp_ms
