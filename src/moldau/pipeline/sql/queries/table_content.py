"""The rows of one table in memory, by key. Readers and the writer share them under a lock.

Rows are kept as the bytes of their topic: a row is decoded when a query asks for it. Keys are kept in a form that is
the same however the producer spelled them.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from moldau.pipeline.code.source import FAILURES as CODE_FAILURES
from moldau.pipeline.plan.windows import Windowed
from moldau.pipeline.serdes.serde import Decoder, Encoder, ServiceAway
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.expressions.times import timestamp_reader
from moldau.pipeline.sql.formats import internal_serde, row_serde
from moldau.pipeline.sql.queries.table_rows import StoredRow, rows_for
from moldau.pipeline.sql.translation.query import key_serde
from moldau.pipeline.sql.translation.row import OnFailure, log_failure

RECORDS_PER_LOCK: Final = 100
"""A lookup never waits for more than these."""

TableRow = tuple[Any, Any, int]
"""The record's key, value and time, as the functions of a query take them."""


class TableContent:
    def __init__(
        self, source: SourceInfo, retention_ms: int | None = None, on_failure: OnFailure = log_failure
    ) -> None:
        self.source = source
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._put_count = 0
        self._put_bytes = 0
        self._rows = rows_for(source.window, retention_ms)
        self._is_windowed = source.window is not None
        self._read_key = key_serde(source).decoder(source.topic, is_key=True)
        values = row_serde(source.value_format, source.stored_columns, is_key=False)
        self._read_value = values.decoder(source.topic, is_key=False)
        self._time_of = _time_reader(source)
        self._nulls = (None,) * len(source.headers)
        self._pack_key: Encoder = internal_serde().encoder(source.topic, is_key=True)
        self._unpack_key: Decoder = internal_serde().decoder(source.topic, is_key=True)

    # The writer

    def load(self, records: Iterable[tuple[bytes | None, bytes | None, int]]) -> None:
        """(key, value, timestamp) in the order of the topic."""
        ready = []
        for key, value, timestamp_ms in records:
            if key is None:
                continue
            try:
                ready.append((self._read_key(key), value, timestamp_ms))
            except ServiceAway:
                raise
            except Exception as failure:  # noqa: BLE001  codecs raise errors of any kind
                self._on_failure(f"the key of a record of {self.source.topic}", failure, key)
        for start in range(0, len(ready), RECORDS_PER_LOCK):
            with self._lock:
                for one in ready[start : start + RECORDS_PER_LOCK]:
                    self._put(*one)

    def _put(self, key: Any, value: bytes | None, timestamp_ms: int) -> None:
        packed = self._pack_key(key[0] if self._is_windowed else key) or b""
        if value is not None:
            self._put_count += 1
            self._put_bytes += len(packed) + len(value)
        self._rows.put(packed, key, value, timestamp_ms)

    # Readers

    def rows_of(self, keys: Iterable[tuple[Any, ...]]) -> Iterator[TableRow]:
        for key in keys:
            packed = self._pack_key(key) or b""
            with self._lock:
                found = list(self._rows.of(packed))
            yield from self._decoded(found)

    def all_rows(self) -> Iterator[TableRow]:
        """As they are at the time of the call; a long scan disturbs no lookup."""
        with self._lock:
            found = list(self._rows.all())
        return self._decoded(found)

    def __len__(self) -> int:
        with self._lock:
            return len(self._rows)

    @property
    def bytes_held(self) -> int:
        """Estimated from the average record."""
        return len(self) * self._put_bytes // max(1, self._put_count)

    def _decoded(self, found: Iterable[StoredRow]) -> Iterator[TableRow]:
        for packed, start_ms, end_ms, data, timestamp_ms in found:
            key = self._unpack_key(packed)
            try:
                value = self._read_value(data)
            except ServiceAway:
                raise
            except Exception as failure:  # noqa: BLE001  codecs raise errors of any kind
                self._on_failure(f"the value of {key} in {self.source.topic}", failure, data)
                continue
            if value is None:
                continue
            if self._time_of is not None:
                timestamp_ms = self._time_of(value, timestamp_ms)
            if self._nulls:
                value = (*value, *self._nulls)
            yield (Windowed(key, start_ms, end_ms) if self._is_windowed else key), value, timestamp_ms


def _time_reader(source: SourceInfo) -> Callable[[tuple[Any, ...], int], int] | None:
    """Of a source with the property TIMESTAMP: the time is in a column, unless that is null or cannot be read."""
    names = [column.name for column in source.stored_columns]
    if source.timestamp_column not in names:
        return None
    index = names.index(source.timestamp_column)
    read = timestamp_reader(source.stored_columns[index].type, source.timestamp_format)

    def time_of(value: tuple[Any, ...], timestamp_ms: int) -> int:
        try:
            return timestamp_ms if value[index] is None else int(read(value[index]))
        except CODE_FAILURES:
            return timestamp_ms

    return time_of
