"""The producer that all requests share. Records of a request go to it in one go; the answer is a list of what happened
to each, in order.

One thread serves the delivery reports of the producer, and wakes the event loop once per request.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

DEFAULTS: Final = {
    "enable.idempotence": "true",
    "linger.ms": "1",
    "delivery.timeout.ms": "30000",
    "topic.metadata.propagation.max.ms": "10000",
    "queue.buffering.max.messages": "1000000",
    "queue.buffering.max.kbytes": "262144",
}
"""A linger of a millisecond joins the records of a request; its response time stays below five."""
TURN_S: Final = 0.5
FLUSH_S: Final = 10.0
QUEUE_WAIT_S: Final = 0.005

log = logging.getLogger("moldau.rest")


class Record(NamedTuple):
    """What is written. `partition` -1 lets Kafka's partitioner choose."""

    key: bytes | None
    value: bytes | None
    partition: int = -1
    timestamp_ms: int = 0
    headers: list[tuple[str, bytes | None]] | None = None


class Written(NamedTuple):
    """Where a record is, or why it is not in Kafka."""

    partition: int
    offset: int
    timestamp_ms: int
    error: KafkaError | None = None


class _Pending:
    """The records of one request that Kafka has not acknowledged yet. `done` is called by the producer's thread."""

    __slots__ = ("_left", "_loop", "future", "written")

    def __init__(self, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.written: list[Written | None] = [None] * count
        self.future: asyncio.Future[list[Written]] = loop.create_future()
        self._left = count
        self._loop = loop

    def done(self, index: int, error: KafkaError | None, message: Message) -> None:
        self._put(
            index,
            Written(message.partition(), message.offset(), message.timestamp()[1], error),  # type: ignore[arg-type]
        )

    def fail(self, index: int, error: KafkaError) -> None:
        self._put(index, Written(-1, -1, 0, error))

    def _put(self, index: int, written: Written) -> None:
        self.written[index] = written
        self._left -= 1
        if not self._left:
            with contextlib.suppress(RuntimeError):  # The loop has ended before Kafka answered.
                self._loop.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        if not self.future.done():
            self.future.set_result(self.written)  # type: ignore[arg-type]


class SharedProducer:
    """Owns the producer and its thread. Replaces the producer after an error that is fatal to it."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties: dict[str, Any] = {**DEFAULTS, **_renamed(properties)}
        self._lock = threading.Lock()
        self._producer = Producer(self._properties, logger=log)
        self._is_open = True
        self._thread = threading.Thread(target=self._serve, name="rest-producer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Waits for records that are under way. Blocks."""
        self._producer.flush(FLUSH_S)
        self._is_open = False
        if self._thread.is_alive():
            self._thread.join()

    async def write(self, topic: str, records: Sequence[Record]) -> list[Written]:
        """Returns when Kafka has acknowledged or refused each of them."""
        return await (await self.begin(topic, records)) if records else []

    async def begin(self, topic: str, records: Sequence[Record]) -> "asyncio.Future[list[Written]]":
        """Hands over the records, which keep their order. The future is done when Kafka has acknowledged or refused
        each of them; there is at least one."""
        pending = _Pending(len(records), asyncio.get_running_loop())
        producer = self._producer
        produce, done = producer.produce, pending.done
        for index, (key, value, partition, timestamp_ms, headers) in enumerate(records):
            while True:
                try:
                    produce(
                        topic,
                        value,
                        key,
                        partition,
                        partial(done, index),
                        timestamp=timestamp_ms,
                        headers=headers,  # type: ignore[arg-type]
                    )
                    break
                except BufferError:
                    # The queue is full: this request waits, and its client with it.
                    await asyncio.sleep(QUEUE_WAIT_S)
                except KafkaException as error:
                    found: KafkaError = error.args[0]
                    pending.fail(index, found)
                    break
        pending.future.add_done_callback(partial(self._watch, producer))
        return pending.future

    def _watch(self, producer: Producer, future: "asyncio.Future[list[Written]]") -> None:
        if not future.cancelled() and any(
            each.error is not None and each.error.fatal() for each in future.result()
        ):
            threading.Thread(target=self._replace, args=[producer], name="rest-new-producer").start()

    def _serve(self) -> None:
        while self._is_open:
            self._producer.poll(TURN_S)

    def _replace(self, broken: Producer) -> None:
        with self._lock:
            if self._producer is not broken:
                return
            log.warning("the producer met a fatal error and is replaced")
            self._producer = Producer(self._properties, logger=log)
        broken.purge()
        broken.flush(FLUSH_S)


def _renamed(properties: Mapping[str, str]) -> dict[str, str]:
    """One name per setting, so that a user's value replaces ours whatever it is called."""
    names = {"queue.buffering.max.ms": "linger.ms", "message.timeout.ms": "delivery.timeout.ms"}
    return {names.get(name, name): value for name, value in properties.items()}
