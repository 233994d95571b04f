"""Encodes the rows that a function of DataFrames returns. Runs in Spark's tasks; the driver rejects wrong columns."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.types import BinaryType, DataType, StringType

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.spark.row_values import PLAIN, from_row
from moldau.pipeline.spark.transforms.columns import HEADERS, KEY, ORDER, TIMESTAMP, VALUE

Encode = Callable[[Any], bytes | None]

ENCODED: Final = (
    "key binary, value binary, timestamp_ms bigint, headers array<struct<key: string, value: binary>>, "
    "order binary"
)
_ARROW: Final = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("timestamp_ms", pa.int64()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("order", pa.binary()),
    ]
)


class RowEncodingError(MoldauError):
    """A row that cannot become a record."""


@dataclass(frozen=True)
class OutputLayout:
    """Created in the driver from the columns of a result. Raises ConfigError for columns that cannot be written."""

    topic: str
    key: Serde
    value: Serde
    key_type: DataType
    value_type: DataType

    def __post_init__(self) -> None:
        for side, serde, given in ((KEY, self.key, self.key_type), (VALUE, self.value, self.value_type)):
            _encoder(serde, given, self.topic, side)

    def encoded(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Columns key, value, timestamp_ms, headers and order, as `ENCODED` says."""
        for rows in batches:
            yield self._batch(rows)

    def _batch(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        names = rows.schema.names
        times = rows.column(TIMESTAMP).cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())
        if times.null_count:
            raise RowEncodingError("a row has no timestamp: fill the column timestamp in all rows")
        missing = pa.nulls(rows.num_rows)
        arrays = {
            "key": self._side(KEY, rows),
            "value": self._side(VALUE, rows),
            "timestamp_ms": times,
            "headers": rows.column(HEADERS) if HEADERS in names else missing,
            "order": rows.column(ORDER) if ORDER in names else missing,
        }
        return pa.RecordBatch.from_arrays(
            [array.cast(_ARROW.field(name).type) for name, array in arrays.items()], schema=_ARROW
        )

    def _side(self, side: str, rows: pa.RecordBatch) -> pa.Array:
        serde, given = (self.key, self.key_type) if side == KEY else (self.value, self.value_type)
        encode = _encoder(serde, given, self.topic, side)
        column = rows.column(side)
        if encode is None:
            return column.cast(pa.binary())
        encoded = []
        for value in column.to_pylist():
            try:
                encoded.append(encode(value))
            except MoldauError:
                raise
            except Exception as failure:
                raise RowEncodingError(
                    f"the {side} {value!r:.200} cannot be written as {serde.name}: {type(failure).__name__}: {failure}"
                ) from failure
        return pa.array(encoded, pa.binary())


def _encoder(serde: Serde, given: DataType, topic: str, side: str) -> Encode | None:
    """None: the bytes are written as they are."""
    if isinstance(given, BinaryType):
        return None
    is_key = side == KEY
    if serde.name in PLAIN:
        wanted = PLAIN[serde.name][0]
        if given != wanted:
            raise ConfigError(
                f"the column {side} is {given.simpleString()}, but the stream's {side}s are {serde.name}: cast it to "
                f"{wanted.simpleString()}, or give transform() the serde of what comes out: {side}="
            )
        return serde.encoder(topic, is_key=is_key)
    if isinstance(given, StringType) and serde.name in ("json", "bytes"):
        return None
    if serde.name == "bytes":
        raise ConfigError(
            f"the column {side} is {given.simpleString()}, but the stream's {side}s are bytes: cast it to BINARY, or "
            f"give transform() the serde of what comes out: {side}="
        )
    plain, encode = from_row(given, as_json="json" in serde.name), serde.encoder(topic, is_key=is_key)
    return lambda value: None if value is None else encode(plain(value))
