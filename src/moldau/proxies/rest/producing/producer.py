"""The producer that all requests share. Records of a request go to it in one go; the answer is a list of what happened
to each, in order.

A thread serves the delivery reports while few records are under way: it is there at once. While there are many, the
event loop serves them itself every millisecond, because the thread would take Python's lock for each report, and would
wait for the event loop every time.
"""

import asyncio
import contextlib
import itertools
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from moldau.proxies.rest.failures import KAFKA_RETRIABLE, RestFailure

DEFAULTS: Final = {
    "enable.idempotence": "true",
    "linger.ms": "1",
    "socket.nagle.disable": "true",
    "delivery.timeout.ms": "30000",
    "topic.metadata.propagation.max.ms": "10000",
    "queue.buffering.max.messages": "1000000",
    "queue.buffering.max.kbytes": "262144",
}
"""A linger of a millisecond joins the records of a request; its response time stays below five."""
PURGED: Final = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT, KafkaError._FATAL})
FEW_RECORDS: Final = 64
TURN_S: Final = 0.001
THREAD_TURN_S: Final = 0.5
QUIET_S: Final = 0.1
"""How long there are few records before the thread serves again."""
REASON_S: Final = 0.05
FLUSH_S: Final = 10.0
PURGE_S: Final = 2.0
"""How long a replaced producer is served at least: the thread turns to its successor in this time."""
QUEUE_WAIT_S: Final = 0.005

_new: Final = tuple.__new__
"""Makes a named tuple without the function that the class has for it, which takes as long as all the rest."""

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


class _Client:
    """A producer of Kafka, and the error that was fatal to it."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        self.fatal: KafkaError | None = None
        self.producer = Producer({**properties, "error_cb": self._on_error}, logger=log)

    def poll(self, timeout_s: float = 0.0) -> None:
        """Serves the delivery reports that are there."""
        try:
            self.producer.poll(timeout_s)
        except KafkaException as error:
            # This is how the library tells of a fatal error.
            self._on_error(error.args[0])
            if self.fatal is None:
                log.error("serving the producer failed: %s", error)

    def close(self) -> None:
        """Ends the producer, which goes with the last reference to it: its callback holds this object, and until
        garbage is looked for it would connect and log in again and again. Blocks shortly."""
        del self.producer

    def reason(self, error: KafkaError) -> KafkaError:
        """Records that were purged have not reached Kafka because of the fatal error."""
        return self.fatal if self.fatal is not None and error.code() in PURGED else error

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal() or error.code() == KafkaError._FATAL:
            self.fatal = error


class _Pending:
    """The records of one request that Kafka has not acknowledged yet. `done` is called in the event loop or in the
    producer's thread."""

    __slots__ = ("_client", "_count", "_loop", "_reports", "future", "written")

    def __init__(self, client: _Client, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.written: list[Written | None] = [None] * count
        self.future: asyncio.Future[list[Written]] = loop.create_future()
        self._client = client
        self._count = count
        self._reports = itertools.count(1)
        """Counts in one step, whichever thread asks."""
        self._loop = loop

    def done(self, index: int, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.fail(index, error)
            return
        fields = (message.partition(), message.offset(), message.timestamp()[1], None)
        self.written[index] = _new(Written, fields)
        if next(self._reports) == self._count:
            self._finish()

    def fail(self, index: int, error: KafkaError) -> None:
        self.written[index] = Written(-1, -1, 0, self._client.reason(error))
        if next(self._reports) == self._count:
            self._finish()

    def _finish(self) -> None:
        with contextlib.suppress(RuntimeError):  # The loop has ended before Kafka answered.
            self._loop.call_soon_threadsafe(self._set_result)

    def _set_result(self) -> None:
        if not self.future.done():
            self.future.set_result(self.written)  # type: ignore[arg-type]


class SharedProducer:
    """Owns the producer and its thread. Replaces the producer after an error that is fatal to it."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties: dict[str, Any] = {**DEFAULTS, **_renamed(properties)}
        self._client = _Client(self._properties)
        self._broken: list[tuple[_Client, float]] = []
        """Replaced ones that may still have to report, and until when they are served at least."""
        self._next_turn: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_open = True
        self._records = 0
        """That are under way."""
        self._are_few = threading.Event()
        """The thread serves while this is set."""
        self._many_until_s = 0.0
        self._are_few.set()
        self._thread = threading.Thread(target=self._serve, name="rest-producer", daemon=True)
        self.in_flight = 0
        """Requests that wait for Kafka."""

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def close(self) -> None:
        """Waits for records that are under way."""
        deadline = time.monotonic() + FLUSH_S
        while (self.in_flight or len(self._client.producer)) and time.monotonic() < deadline:
            await asyncio.sleep(TURN_S)
            self._turn()
        self._is_open = False
        self._are_few.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)
        if self._next_turn is not None:
            self._next_turn.cancel()
        for client in (self._client, *(each[0] for each in self._broken)):
            await asyncio.to_thread(client.close)

    async def write(self, topic: str, records: Sequence[Record]) -> list[Written]:
        """Returns when Kafka has acknowledged or refused each of them."""
        return await (await self.begin(topic, records)) if records else []

    async def begin(self, topic: str, records: Sequence[Record]) -> "asyncio.Future[list[Written]]":
        """Hands over the records, which keep their order. The future is done when Kafka has acknowledged or refused
        each of them; there is at least one. Raises RestFailure 50003 once it is closed."""
        if not self._is_open:
            raise RestFailure(KAFKA_RETRIABLE, "Kafka error: the producer is closed. Send the request again.")
        if self._client.fatal is not None:
            self._replace(self._client)
        client = self._client
        pending = _Pending(client, len(records), asyncio.get_running_loop())
        produce, done = client.producer.produce, pending.done
        self.in_flight += 1
        self._records += len(records)
        if self._records > FEW_RECORDS:
            self._many_until_s = time.monotonic() + QUIET_S
            if self._are_few.is_set():
                self._are_few.clear()
                self._turn_in(TURN_S)
        pending.future.add_done_callback(partial(self._answered, len(records)))
        for index, (key, value, partition, timestamp_ms, headers) in enumerate(records):
            while True:
                try:
                    if timestamp_ms or headers:
                        produce(
                            topic,
                            value,
                            key,
                            partition,
                            partial(done, index),
                            timestamp=timestamp_ms,
                            headers=headers,  # type: ignore[arg-type]
                        )
                    else:
                        produce(topic, value, key, partition, partial(done, index))
                    break
                except BufferError:
                    # The queue is full: this request waits, and its client with it.
                    await asyncio.sleep(QUEUE_WAIT_S)
                except KafkaException as error:
                    found: KafkaError = error.args[0]
                    if found.code() == KafkaError._FATAL and client.fatal is None:
                        # What it was is on its way.
                        client.poll(REASON_S)
                    pending.fail(index, found)
                    break
        return pending.future

    def _answered(self, count: int, _future: "asyncio.Future[list[Written]]") -> None:
        self.in_flight -= 1
        self._records -= count

    def _serve(self) -> None:
        """The thread."""
        assert self._loop is not None
        while self._is_open:
            self._are_few.wait()
            client = self._client
            client.poll(THREAD_TURN_S)
            if client.fatal is not None and client is self._client:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._turn)
                time.sleep(TURN_S)

    def _turn(self) -> None:
        """The event loop's, while the thread does not serve everything."""
        now = time.monotonic()
        if not self._are_few.is_set():
            self._client.poll()
            if self._records <= FEW_RECORDS and now > self._many_until_s:
                self._are_few.set()
        if self._client.fatal is not None:
            self._replace(self._client)
        if self._broken:
            for client, _ in self._broken:
                client.poll()
            self._client.poll()
            kept = [
                each
                for each in self._broken
                if now < each[1] or (len(each[0].producer) and now < each[1] + FLUSH_S)
            ]
            for each in self._broken:
                if each not in kept:
                    asyncio.get_running_loop().run_in_executor(None, each[0].close)
            self._broken = kept
        if self._broken or not self._are_few.is_set():
            self._turn_in(TURN_S)

    def _turn_in(self, delay_s: float) -> None:
        if self._next_turn is not None:
            self._next_turn.cancel()
        self._next_turn = asyncio.get_running_loop().call_later(delay_s, self._turn)

    def _replace(self, broken: _Client) -> None:
        assert broken.fatal is not None
        log.warning("the producer is replaced after a fatal error: %s", broken.fatal.str())
        if broken.fatal.code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED:
            # A user who may not write idempotently may perhaps write, or learns exactly what is not allowed.
            self._properties["enable.idempotence"] = "false"
        self._client = _Client(self._properties)
        # Their records fail, and so do those that are handed over from now on.
        broken.producer.purge(blocking=False)
        self._broken.append((broken, time.monotonic() + PURGE_S))
        self._turn_in(TURN_S)


def _renamed(properties: Mapping[str, str]) -> dict[str, str]:
    """One name per setting, so that a user's value replaces ours whatever it is called."""
    names = {"queue.buffering.max.ms": "linger.ms", "message.timeout.ms": "delivery.timeout.ms"}
    return {names.get(name, name): value for name, value in properties.items()}
