"""The producer that all requests share. Records of a request go to it in one go; the answer is a list of what happened
to each, in order.

Its delivery reports are served in the event loop, every millisecond while requests wait for some. A thread of their own
would have to take Python's lock for each report, and would wait for the event loop every time.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

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
TURN_S: Final = 0.001
IDLE_TURN_S: Final = 0.25
REASON_S: Final = 0.05
FLUSH_S: Final = 10.0
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

    def reason(self, error: KafkaError) -> KafkaError:
        """Records that were purged have not reached Kafka because of the fatal error."""
        if error.code() == KafkaError._FATAL and self.fatal is None:
            # What it was is on its way to this thread.
            self.poll(REASON_S)
        return self.fatal if self.fatal is not None and error.code() in PURGED else error

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal() or error.code() == KafkaError._FATAL:
            self.fatal = error


class _Pending:
    """The records of one request that Kafka has not acknowledged yet."""

    __slots__ = ("_client", "_left", "future", "written")

    def __init__(self, client: _Client, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.written: list[Written | None] = [None] * count
        self.future: asyncio.Future[list[Written]] = loop.create_future()
        self._client = client
        self._left = count

    def done(self, index: int, error: KafkaError | None, message: Message) -> None:
        """Called for every record, while the producer is polled."""
        if error is not None:
            self.fail(index, error)
            return
        fields = (message.partition(), message.offset(), message.timestamp()[1], None)
        self.written[index] = _new(Written, fields)
        self._left -= 1
        if not self._left:
            self._finish()

    def fail(self, index: int, error: KafkaError) -> None:
        self.written[index] = Written(-1, -1, 0, self._client.reason(error))
        self._left -= 1
        if not self._left:
            self._finish()

    def _finish(self) -> None:
        if not self.future.done():
            self.future.set_result(self.written)  # type: ignore[arg-type]


class SharedProducer:
    """Owns the producer. Replaces it after an error that is fatal to it. Used in the event loop only."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties: dict[str, Any] = {**DEFAULTS, **_renamed(properties)}
        self._client = _Client(self._properties)
        self._broken: list[tuple[_Client, float]] = []
        """Replaced ones that still have to report, and until when they may."""
        self._next_turn: asyncio.TimerHandle | None = None
        self.in_flight = 0
        """Requests that wait for Kafka."""

    def start(self) -> None:
        self._turn()

    async def close(self) -> None:
        """Waits for records that are under way."""
        deadline = time.monotonic() + FLUSH_S
        while (self.in_flight or len(self._client.producer)) and time.monotonic() < deadline:
            self._turn()
            await asyncio.sleep(TURN_S)
        if self._next_turn is not None:
            self._next_turn.cancel()
            self._next_turn = None

    async def write(self, topic: str, records: Sequence[Record]) -> list[Written]:
        """Returns when Kafka has acknowledged or refused each of them."""
        return await (await self.begin(topic, records)) if records else []

    async def begin(self, topic: str, records: Sequence[Record]) -> "asyncio.Future[list[Written]]":
        """Hands over the records, which keep their order. The future is done when Kafka has acknowledged or refused
        each of them; there is at least one."""
        if not self.in_flight:
            # A producer that was idle may have failed without anybody noticing.
            self._turn()
        client = self._client
        pending = _Pending(client, len(records), asyncio.get_running_loop())
        produce, done = client.producer.produce, pending.done
        self.in_flight += 1
        if self.in_flight == 1:
            self._turn_in(TURN_S)
        pending.future.add_done_callback(self._answered)
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
                    pending.fail(index, found)
                    break
        return pending.future

    def _answered(self, _future: "asyncio.Future[list[Written]]") -> None:
        self.in_flight -= 1

    def _turn(self) -> None:
        self._client.poll()
        if self._client.fatal is not None:
            self._replace(self._client)
        if self._broken:
            now = time.monotonic()
            for client, _ in self._broken:
                client.poll()
            self._broken = [each for each in self._broken if len(each[0].producer) and now < each[1]]
        self._turn_in(TURN_S if self.in_flight or self._broken else IDLE_TURN_S)

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
        self._broken.append((broken, time.monotonic() + FLUSH_S))


def _renamed(properties: Mapping[str, str]) -> dict[str, str]:
    """One name per setting, so that a user's value replaces ours whatever it is called."""
    names = {"queue.buffering.max.ms": "linger.ms", "message.timeout.ms": "delivery.timeout.ms"}
    return {names.get(name, name): value for name, value in properties.items()}
