"""Decodes whole columns of bytes to keys, values and timestamps, and finds the few rows that cannot be read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.operators.failures import FAILURES, DecodingError
from moldau.pipeline.operators.records import NEGATIVE_TIMESTAMP, SKIPPED, Columns
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import GlobalTable, Rule, Source
from moldau.pipeline.serdes.serde import Decoder, ServiceAway

SKIPPED_MS = -1
"""In place of a timestamp: the row is not processed."""


class TimestampError(ValueError):
    """A source's timestamp extractor did not return a timestamp."""


Undecodable = Callable[[Source, Columns, int, BaseException, str], None]
"""(source, columns, index of the record in them, error, reason for the count): decides what happens to the record."""


@dataclass(slots=True)
class Decoded:
    source: Source
    columns: Columns
    keys: list[Any]
    values: list[Any]
    timestamps_ms: list[int]

    @property
    def order_ms(self) -> Sequence[int]:
        """The order times, for the merge with other queues."""
        return self.timestamps_ms if self.columns.order_ms is None else self.columns.order_ms


def decode_columns(
    source: Source, columns: Columns, context: RecordContext, undecodable: Undecodable
) -> Decoded:
    """Calls `undecodable` for rows that cannot be read, and skips them if it returns."""
    decode_key = source.key_serde.decoder(columns.topic, is_key=True)
    decode_value = source.value_serde.decoder(columns.topic, is_key=False)
    time_of = _time_of(source)
    try:
        keys = [decode_key(data) for data in columns.keys]
        values = [decode_value(data) for data in columns.values]
        if time_of is None:
            times = list(columns.timestamps_ms)
        else:
            times = [time_of(*row) for row in zip(keys, values, columns.timestamps_ms, strict=True)]
            if set(map(type, times)) != {int}:
                raise TimestampError
        if times and min(times) >= 0:
            return Decoded(source, columns, keys, values, times)
    except ServiceAway:
        raise
    except FAILURES:
        pass
    return _row_by_row(source, columns, decode_key, decode_value, time_of, context, undecodable)


def _row_by_row(
    source: Source,
    columns: Columns,
    decode_key: Decoder,
    decode_value: Decoder,
    time_of: Callable[[Any, Any, int], int] | None,
    context: RecordContext,
    undecodable: Undecodable,
) -> Decoded:
    decoded = Decoded(source, columns, [], [], [])
    context.topic, context.record_partition = columns.topic, columns.partition
    for index, timestamp_ms in enumerate(columns.timestamps_ms):
        context.offset = columns.offsets[index]
        key, value, reason = None, None, SKIPPED
        try:
            key, value = decode_key(columns.keys[index]), decode_value(columns.values[index])
            if time_of is not None:
                timestamp_ms = _whole(source.timestamp, time_of(key, value, timestamp_ms), value)
            if timestamp_ms < 0:
                reason = NEGATIVE_TIMESTAMP
                raise ValueError(f"its timestamp is {timestamp_ms} ms; give the source a timestamp extractor")
        except ServiceAway:
            raise
        except FAILURES as failure:
            undecodable(source, columns, index, failure, reason)
            timestamp_ms = SKIPPED_MS
        decoded.keys.append(key)
        decoded.values.append(value)
        decoded.timestamps_ms.append(timestamp_ms)
    return decoded


def _whole(rule: Rule | None, given: Any, value: Any) -> int:
    """The result of a timestamp extractor, if it is a timestamp."""
    if isinstance(given, float) and given == given and abs(given) != float("inf"):
        return int(given)
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if isinstance(rule, Expression):
        what, cure = f"the timestamp field {rule}", "timestamp=lambda value, record_timestamp_ms: ..."
        if given is None:
            fields = f"; its fields are {', '.join(map(str, value))}" if isinstance(value, dict) else ""
            raise TimestampError(
                f"{what} is missing or null{fields}. Name the field that holds the event time, or give {cure}"
            )
    else:
        name = getattr(rule, "__qualname__", None) or repr(rule)
        what, cure = f"the timestamp extractor {name.rpartition('.')[2]}", "have it return an int"
    raise TimestampError(
        f"{what} gives {given!r}, a {type(given).__name__}, where milliseconds since 1970 are needed: {cure}"
    )


def decoding_error(
    source: Source, columns: Columns, index: int, failure: BaseException, reason: str
) -> DecodingError:
    place = f"{columns.topic}-{columns.partition} at offset {columns.offsets[index]}"
    if reason == NEGATIVE_TIMESTAMP or isinstance(failure, TimestampError):
        return DecodingError(f"{source.where}: the record of {place} has no usable timestamp: {failure}")
    serdes = f"{source.key_serde.name} (key), {source.value_serde.name} (value)"
    return DecodingError(f"the record of {place} is not {serdes}: {failure}")


def _time_of(source: Source | GlobalTable) -> Callable[[Any, Any, int], int] | None:
    rule = source.timestamp
    if rule is None:
        return None
    if isinstance(rule, Expression):
        return rule.evaluator()
    function = rule
    return lambda key, value, timestamp_ms: function(value, timestamp_ms)


def decode_global(table: GlobalTable, columns: Columns) -> Iterator[tuple[bytes, bytes | None, int]]:
    """Key, value and timestamp of each row of a global table's topic, without rows that have no key."""
    time_of = _time_of(table)
    if time_of is None:
        for key, value, timestamp_ms in zip(columns.keys, columns.values, columns.timestamps_ms, strict=True):
            if key is not None:
                yield key, value, timestamp_ms
        return
    decode_key = table.key_serde.decoder(columns.topic, is_key=True)
    decode_value = table.value_serde.decoder(columns.topic, is_key=False)
    for key, value, timestamp_ms in zip(columns.keys, columns.values, columns.timestamps_ms, strict=True):
        if key is not None:
            row = decode_value(value)
            yield key, value, _whole(table.timestamp, time_of(decode_key(key), row, timestamp_ms), row)
