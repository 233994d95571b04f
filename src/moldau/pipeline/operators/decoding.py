"""Whole columns of bytes to keys, values and times, with the few rows that cannot be read told apart."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import Columns, DeadRecord
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import GlobalTable, Source
from moldau.pipeline.serdes.serde import Decoder, ServiceAway

SKIPPED_MS = -1
"""In place of a timestamp: the row is not processed."""


class DecodingError(MoldauError):
    """Bytes of a record are not what the source's serde reads."""


@dataclass(slots=True)
class Decoded:
    source: Source
    columns: Columns
    keys: list[Any]
    values: list[Any]
    timestamps_ms: list[int]


def decode_columns(source: Source, columns: Columns, dead: list[DeadRecord] | None) -> Decoded:
    """Rows that cannot be read go to `dead`; without such a list the first one raises."""
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
        if times and min(times) >= 0:
            return Decoded(source, columns, keys, values, times)
    except ServiceAway:
        raise
    except Exception:  # noqa: BLE001, S110 a serde of the user may raise anything; the slow way finds the row
        pass
    return _row_by_row(source, columns, decode_key, decode_value, time_of, dead)


def _row_by_row(
    source: Source,
    columns: Columns,
    decode_key: Decoder,
    decode_value: Decoder,
    time_of: Callable[[Any, Any, int], int] | None,
    dead: list[DeadRecord] | None,
) -> Decoded:
    from moldau.pipeline.operators.task import dead_record

    decoded = Decoded(source, columns, [], [], [])
    for index, timestamp_ms in enumerate(columns.timestamps_ms):
        key = value = None
        try:
            key, value = decode_key(columns.keys[index]), decode_value(columns.values[index])
            if time_of is not None:
                timestamp_ms = time_of(key, value, timestamp_ms)
            if timestamp_ms < 0:
                raise ValueError(f"its timestamp is {timestamp_ms} ms; give the source a timestamp extractor")
        except ServiceAway:
            raise
        except Exception as failure:
            if dead is None:
                place = f"{columns.topic}-{columns.partition} at offset {columns.offsets[index]}"
                raise DecodingError(
                    f"the record of {place} is not {source.key_serde.name} (key), {source.value_serde.name} (value): "
                    f"{failure}"
                ) from failure
            dead.append(dead_record(columns, index, failure))
            timestamp_ms = SKIPPED_MS
        decoded.keys.append(key)
        decoded.values.append(value)
        decoded.timestamps_ms.append(timestamp_ms)
    return decoded


def _time_of(source: Source | GlobalTable) -> Callable[[Any, Any, int], int] | None:
    rule = source.timestamp
    if rule is None:
        return None
    if isinstance(rule, Expression):
        return rule.evaluator()
    function = rule
    return lambda key, value, timestamp_ms: int(function(value, timestamp_ms))


def decode_global(table: GlobalTable, columns: Columns) -> Iterator[tuple[bytes, bytes | None, int]]:
    """Key, value and time of each row of a global table's topic; rows without a key are left out."""
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
            yield key, value, time_of(decode_key(key), decode_value(value), timestamp_ms)
