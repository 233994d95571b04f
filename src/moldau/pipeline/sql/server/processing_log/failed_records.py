"""Records that the driver could not read or process, from its topic into the processing log. At least once."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Message, Producer

from moldau.pipeline.sql.server.processing_log.entries import HEADER, failed_record

BATCH_MAX: Final = 500
POLL_S: Final = 0.5
FLUSH_S: Final = 30.0

log = logging.getLogger("moldau.sql")


class FailedRecords:
    """Runs on the server that hosts the queries. `query_of` says which query reads a topic."""

    def __init__(
        self,
        client: Mapping[str, str],
        source: str,
        target: str,
        *,
        with_rows: bool,
        query_of: Callable[[str], str],
        is_host: Callable[[], bool],
    ) -> None:
        self._settings: dict[str, Any] = {**client, "logger": log}
        self._source, self._target = source, target
        self._with_rows = with_rows
        self._query_of = query_of
        self._is_host = is_host
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sql-failed-records", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(POLL_S):
            if self._is_host():
                try:
                    self._follow()
                except KafkaException as error:
                    log.warning("the processing log: %s", error.args[0].str())

    def _follow(self) -> None:
        consumer = Consumer(
            {
                **self._settings,
                "group.id": self._source,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                # The topic comes with the first query.
                "topic.metadata.refresh.interval.ms": 5_000,
                "allow.auto.create.topics": False,
            }
        )
        producer = Producer({**self._settings, "enable.idempotence": True, "linger.ms": 10})
        try:
            consumer.subscribe([self._source])
            while self._is_host() and not self._stopping.is_set():
                messages = consumer.consume(BATCH_MAX, POLL_S)
                read = [message for message in messages if message.error() is None]
                for message in read:
                    producer.produce(self._target, self._entry(message))
                if read and producer.flush(FLUSH_S) == 0:
                    consumer.commit(asynchronous=False)
        finally:
            consumer.close()

    def _entry(self, message: Message) -> bytes:
        headers = {name: _text(value) for name, value in message.headers() or []}  # type: ignore[str-unpack]
        topic = headers.get(f"{HEADER}topic", "")
        now_ms = int(time.time() * 1000)
        return failed_record(
            self._query_of(topic),
            headers,
            message.value(),
            now_ms,
            with_row=self._with_rows,
        )


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""
