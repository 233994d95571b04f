"""The rows of one table in memory, by key. Readers and the writer share them under a lock.

Rows are kept as the bytes of their topic: a row is decoded when a query asks for it. Keys are kept in a form that is
the same however the producer spelled them.
"""

import threading
from collections.abc import Iterable, Iterator
from typing import Any, Final

from moldau.pipeline.operators.stores.key_value import KeyValueStore
from moldau.pipeline.operators.stores.session import SessionStore
from moldau.pipeline.operators.stores.window import WindowStore
from moldau.pipeline.plan.windows import Windowed
from moldau.pipeline.serdes.serde import Decoder, Encoder, ServiceAway
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.formats import internal_serde, row_serde
from moldau.pipeline.sql.translation.query import key_serde
from moldau.pipeline.sql.translation.row import OnFailure, log_failure

FOREVER_MS: Final = 2**62
FAR_PAST_MS: Final = -(2**62)
FAR_FUTURE_MS: Final = 2**62
RECORDS_PER_LOCK: Final = 100
"""A lookup never waits for more than these."""

TableRow = tuple[Any, Any, int]
"""The record's key, value and time, as the functions of a query take them."""
Stored = tuple[bytes, int, int, bytes, int]
"""Key, start and end of the window (0 without one), value, time."""


class TableContent:
    def __init__(
        self, source: SourceInfo, retention_ms: int | None = None, on_failure: OnFailure = log_failure
    ) -> None:
        self.source = source
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._put_count = 0
        self._put_bytes = 0
        kind, name = source.window, source.name
        retention = FOREVER_MS if retention_ms is None else retention_ms
        self._sessions = SessionStore(name, retention) if kind and kind.kind == "SESSION" else None
        self._windows = WindowStore(name, retention) if kind and self._sessions is None else None
        self._rows = KeyValueStore(name)
        self._size_ms = kind.size_ms if kind else 0
        self._read_key = key_serde(source).decoder(source.topic, is_key=True)
        values = row_serde(source.value_format, source.stored_columns, is_key=False)
        self._read_value = values.decoder(source.topic, is_key=False)
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
        if self._sessions is not None or self._windows is not None:
            packed = self._pack_key(key[0]) or b""
        else:
            packed = self._pack_key(key) or b""
        if value is not None:
            self._put_count += 1
            self._put_bytes += len(packed) + len(value)
        if self._sessions is not None:
            self._sessions.put(packed, key[1], key[2], value)
            self._sessions.take_changes()
        elif self._windows is not None:
            self._windows.put(packed, value, key[1], timestamp_ms)
            self._windows.take_changes()
        else:
            self._rows.put(packed, value, timestamp_ms)
            self._rows.take_changes()

    # Readers

    def rows_of(self, keys: Iterable[tuple[Any, ...]]) -> Iterator[TableRow]:
        for key in keys:
            packed = self._pack_key(key) or b""
            with self._lock:
                found = list(self._stored(packed))
            yield from self._decoded(found)

    def all_rows(self) -> Iterator[TableRow]:
        """As they are at the time of the call; a long scan disturbs no lookup."""
        with self._lock:
            found = list(self._all_stored())
        return self._decoded(found)

    def __len__(self) -> int:
        store = self._sessions or self._windows or self._rows
        with self._lock:
            return len(store)

    @property
    def bytes_held(self) -> int:
        """Estimated from the average record."""
        return len(self) * self._put_bytes // max(1, self._put_count)

    def _stored(self, key: bytes) -> Iterator[Stored]:
        if self._sessions is not None:
            for (start_ms, end_ms), value in self._sessions.find(key, FAR_PAST_MS, FAR_FUTURE_MS):
                yield key, start_ms, end_ms, value, end_ms
        elif self._windows is not None:
            for start_ms, (value, timestamp_ms) in self._windows.fetch(key, FAR_PAST_MS, FAR_FUTURE_MS):
                yield key, start_ms, start_ms + self._size_ms, value, timestamp_ms
        else:
            found = self._rows.get(key)
            if found is not None:
                yield key, 0, 0, *found

    def _all_stored(self) -> Iterator[Stored]:
        if self._sessions is not None:
            for key, (start_ms, end_ms), value in self._sessions.all():
                yield key, start_ms, end_ms, value, end_ms
        elif self._windows is not None:
            for key, start_ms, (value, timestamp_ms) in self._windows.all():
                yield key, start_ms, start_ms + self._size_ms, value, timestamp_ms
        else:
            for key, (value, timestamp_ms) in self._rows.range():
                yield key, 0, 0, value, timestamp_ms

    def _decoded(self, found: Iterable[Stored]) -> Iterator[TableRow]:
        is_windowed = self.source.window is not None
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
            if self._nulls:
                value = (*value, *self._nulls)
            yield (Windowed(key, start_ms, end_ms) if is_windowed else key), value, timestamp_ms
