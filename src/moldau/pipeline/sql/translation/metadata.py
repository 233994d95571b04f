"""What is known of a record beside its key and value, as columns behind those of its value."""

from collections.abc import Sequence
from typing import Any

from moldau.pipeline.operators.processors import ProcessorContext, Record
from moldau.pipeline.operators.records import Headers
from moldau.pipeline.sql.definitions import HeaderColumn

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
