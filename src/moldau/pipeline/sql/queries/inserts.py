"""Rows to records: INSERT VALUES."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer

from moldau.pipeline.serdes.serde import Encoder
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.translation.query import key_serde

POLL_S: Final = 0.1
CLOSE_S: Final = 10.0
ENCODERS_MAX: Final = 1_000
TIMESTAMP_MS_MIN: Final = 1
"""librdkafka takes a timestamp of 0 as not set and writes the current time. A row of time 0 is written with 1."""

Report = Callable[[KafkaError | None, Any], None]


class Inserts:
    """One idempotent producer for the process, acks=all. It is made with the first row."""

    def __init__(self, bootstrap_servers: str, client_settings: clients.ClientSettings) -> None:
        self._settings = clients.producer(bootstrap_servers, client_settings)
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._encoders: dict[SourceInfo, tuple[Encoder, Encoder]] = {}

    def send(
        self,
        source: SourceInfo,
        key: tuple[Any, ...] | None,
        value: tuple[Any, ...] | None,
        timestamp_ms: int,
    ) -> "asyncio.Future[None]":
        """For an event loop: returns at once; the future is done when the record is acknowledged, or fails. Thousands
        may be outstanding. The fields are those of `engine.InsertRow`; `value` holds the `stored_columns`."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle(failure: Exception | None) -> None:
            if future.done():
                return
            if failure is None:
                future.set_result(None)
            else:
                future.set_exception(failure)

        def report(error: KafkaError | None, _: Any) -> None:
            failure = None if error is None else _refusal(source, error)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(settle, failure)

        try:
            self._produce(source, key, value, timestamp_ms, report)
        except SqlError as failure:
            settle(failure)
        return future

    async def insert(
        self,
        source: SourceInfo,
        key: tuple[Any, ...] | None,
        value: tuple[Any, ...] | None,
        timestamp_ms: int,
    ) -> None:
        """Returns when the record is acknowledged."""
        await self.send(source, key, value, timestamp_ms)

    def close(self) -> None:
        """Waits for what is outstanding, but not forever."""
        with self._lock:
            self._closing.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _produce(
        self,
        source: SourceInfo,
        key: tuple[Any, ...] | None,
        value: tuple[Any, ...] | None,
        timestamp_ms: int,
        report: Report,
    ) -> None:
        encode_key, encode_value = self._encoders_of(source)
        try:
            key_bytes = None if key is None else encode_key(key)
            value_bytes = None if value is None else encode_value(value)
        except (ValueError, TypeError, ArithmeticError, LookupError) as wrong:
            raise SqlError(f"the row does not fit {source.name}: {wrong}") from wrong
        try:
            self._running_producer().produce(
                source.topic,
                value_bytes,
                key_bytes,
                timestamp=max(timestamp_ms, TIMESTAMP_MS_MIN),
                on_delivery=report,
            )
        except KafkaException as failure:
            raise _refusal(source, failure.args[0]) from failure
        except BufferError as failure:
            hint = "Send fewer rows at once, or wait for those that were sent."
            raise SqlError(f"too many rows for {source.name} wait for the broker", hint=hint) from failure

    def _encoders_of(self, source: SourceInfo) -> tuple[Encoder, Encoder]:
        found = self._encoders.get(source)
        if found is None:
            if len(self._encoders) >= ENCODERS_MAX:
                self._encoders.clear()
            values = row_serde(source.value_format, source.stored_columns, is_key=False)
            found = self._encoders[source] = (
                key_serde(source).encoder(source.topic, is_key=True),
                values.encoder(source.topic, is_key=False),
            )
        return found

    def _running_producer(self) -> Producer:
        with self._lock:
            if self._closing.is_set():
                raise SqlError("the server is stopping, so nothing is inserted", hint="Ask another server.")
            if self._producer is None:
                self._producer = Producer(self._settings)
                self._thread = threading.Thread(
                    target=self._report, args=(self._producer,), name="sql-inserts", daemon=True
                )
                self._thread.start()
            return self._producer

    def _report(self, producer: Producer) -> None:
        """Serves the delivery reports."""
        while not self._closing.is_set():
            producer.poll(POLL_S)
        producer.flush(CLOSE_S)


def _refusal(source: SourceInfo, error: KafkaError) -> SqlError:
    if error.code() in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART):
        hint = f"DROP {source.name} and create it again with PARTITIONS, or create the topic."
        return SqlError(f"the topic {source.topic} of {source.name} does not exist", hint=hint)
    return SqlError(f"the row for {source.name} was not written to {source.topic}: {error.str()}")
