"""The state of sessions in a compacted topic, written in transactions together with records of QoS 2.

A transaction takes everything that has come while the one before was written: changed sessions, records, retained
messages. A session is written as it is when the transaction begins, once, however often it has changed.

A transaction that failed before its commit was asked for is repeated. Afterwards its outcome may be unknown, and
repeating it could write a record twice: then the state is lost, and what the topic has tells how it ended.

The transactional id belongs to the name of the proxy. A second process of that name fences the first.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from moldau.core.errors import ConfigError, MoldauError
from moldau.proxies.mqtt.kafka.backlog import Backlog
from moldau.proxies.mqtt.kafka.publisher import RECORD_OVERHEAD_BYTES
from moldau.proxies.mqtt.kafka.stored import OWNER, Stored
from moldau.proxies.mqtt.mapping.records import NO_HEADERS, Headers

COMMIT_S: Final = 30.0
POLL_S: Final = 0.1
READ_MAX: Final = 1_000
TRANSACTION_MS: Final = 60_000
RETRY_S: Final = 0.1
MESSAGE_BYTES_MAX: Final = 8 << 20
PERMANENT: Final = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.INVALID_RECORD,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)

log = logging.getLogger("moldau.mqtt")


class StateLost(MoldauError):
    """The transactional producer cannot go on: what is stored must be read again."""


class Record(NamedTuple):
    topic: str
    key: bytes
    value: bytes | None
    headers: Headers = NO_HEADERS
    placed: Callable[[int], None] | None = None
    """Called on the log's thread with the record's offset, again if the transaction is repeated."""


class Owner(NamedTuple):
    """Who writes. Each run has a record of its own: it marks how far what is stored has to be read."""

    process: bytes
    run: int
    """0: the first of the process."""

    @property
    def value(self) -> bytes:
        """Of the record."""
        return self.process + self.run.to_bytes(4, "big")


Then = Callable[[KafkaError | None], None]


class _Wish(NamedTuple):
    records: Sequence[Record]
    size: int
    then: Then


class StateLog:
    """`submit` on the event loop; `then` is called there when the transaction is committed."""

    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        proxy_id: str,
        backlog: Backlog,
        changed: Callable[[], list[Record]],
    ) -> None:
        """`changed` returns the records of the sessions that have changed."""
        self.topic = topic
        self._client = client
        self._transactional_id = f"moldau-mqtt-{proxy_id}"
        self._backlog = backlog
        self._changed = changed
        self._wishes: list[_Wish] = []
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "mqtt-state")
        self._producer: Producer | None = None
        self._is_closing = False
        self.written = 0
        """Transactions since the process began."""

    def submit(self, records: Sequence[Record], then: Then) -> None:
        """Writes the records and what has changed, together."""
        size = sum(len(one.value or b"") + RECORD_OVERHEAD_BYTES for one in records)
        self._wishes.append(_Wish(records, size, then))
        self._backlog.add(size)
        self._wake.set()

    async def stored(self) -> None:
        """Returns when all that has changed until now is stored. Raises StateLost."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.submit((), lambda _error: None if future.done() else future.set_result(None))
        await future

    def open(self, owner: Owner, timeout_s: float) -> Stored:
        """Fences others, and returns what is stored. On a thread. Raises ConfigError, also when another process has
        come since this one was the owner."""
        deadline = time.monotonic() + timeout_s
        if owner.run:
            last = self._read(None, deadline).owner
            if last is not None and not last.startswith(owner.process):
                raise ConfigError(
                    "another proxy was started with the name of this one and has its sessions "
                    f"({self._transactional_id}). Give each its own proxy.id"
                )
        producer = Producer(
            {
                **self._client,
                "transactional.id": self._transactional_id,
                "transaction.timeout.ms": TRANSACTION_MS,
                "message.max.bytes": MESSAGE_BYTES_MAX,
                "partitioner": "murmur2_random",
                "linger.ms": 0,
                "logger": log,
            }
        )
        self._producer = producer
        while True:
            try:
                producer.init_transactions(max(deadline - time.monotonic(), 1))
                break
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() >= deadline:
                    raise ConfigError(
                        f"cannot begin transactions as {self._transactional_id}: {error.args[0].str()}"
                    ) from None
        try:
            self._write([Record(self.topic, OWNER, owner.value)])
        except StateLost as error:
            raise ConfigError(f"cannot write to the topic {self.topic}: {error}") from None
        return self._read(owner.value, deadline)

    async def run(self) -> None:
        """Writes until `close`. Raises StateLost."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            wishes, self._wishes = self._wishes, []
            records = self._changed()
            firsts = []
            for wish in wishes:
                firsts.append(len(records))
                records += wish.records
            failures: Mapping[int, KafkaError] = {}
            if records:
                failures = await loop.run_in_executor(self._thread, self._write, records)
                self.written += 1
            for first, wish in zip(firsts, wishes, strict=True):
                self._backlog.remove(wish.size)
                failed = [failures[n] for n in range(first, first + len(wish.records)) if n in failures]
                wish.then(failed[0] if failed else None)

    def close(self) -> None:
        """The thread ends when what it does is done."""
        self._is_closing = True
        self._thread.shutdown(wait=False)

    def _write(self, records: Sequence[Record]) -> Mapping[int, KafkaError]:
        """Returns when the records are committed, with those left out because Kafka will never take them."""
        left_out: dict[int, KafkaError] = {}
        while True:
            try:
                self._transaction(records, left_out)
                return left_out
            except KafkaException as raised:
                error = raised.args[0]
                if self._is_closing or error.fatal():
                    raise StateLost(error.str()) from None
                log.warning("writing the state of sessions: %s; trying again", error.str())
                self._abort()
                time.sleep(RETRY_S)

    def _transaction(self, records: Sequence[Record], left_out: dict[int, KafkaError]) -> None:
        """Raises KafkaException while nothing can be committed yet, StateLost when something may be."""
        producer = self._producer
        assert producer is not None
        failures: list[KafkaError] = []
        producer.begin_transaction()
        for number, record in enumerate(records):
            if number not in left_out:
                self._produce(producer, number, record, left_out, failures)
        while producer.flush(POLL_S) and not self._is_closing:
            pass
        if failures:
            raise KafkaException(failures[0])
        while True:
            try:
                producer.commit_transaction(COMMIT_S)
                return
            except KafkaException as raised:
                error = raised.args[0]
                if self._is_closing or not error.retriable():
                    raise StateLost(
                        f"it is not known whether a transaction is committed: {error.str()}"
                    ) from None

    def _produce(
        self,
        producer: Producer,
        number: int,
        record: Record,
        left_out: dict[int, KafkaError],
        failures: list[KafkaError],
    ) -> None:
        def report(error: KafkaError | None, message: Any) -> None:
            if error is None:
                if record.placed is not None:
                    record.placed(message.offset())
                return
            failures.append(error)
            if error.code() in PERMANENT and record.topic != self.topic:
                left_out[number] = error

        while True:
            try:
                producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    headers=list(record.headers) or None,
                    on_delivery=report,
                )
                return
            except BufferError:
                producer.poll(POLL_S)
            except KafkaException as raised:
                if raised.args[0].code() not in PERMANENT or record.topic == self.topic:
                    raise
                left_out[number] = raised.args[0]
                return

    def _abort(self) -> None:
        assert self._producer is not None
        while True:
            try:
                self._producer.abort_transaction(COMMIT_S)
                return
            except KafkaException as raised:
                error = raised.args[0]
                if error.code() == KafkaError._STATE:
                    return  # there is none any more
                if self._is_closing or not error.retriable():
                    raise StateLost(error.str()) from None

    def _read(self, owner: bytes | None, deadline: float) -> Stored:
        """Everything up to the record of this owner; without one, up to the end."""
        stored = Stored()
        consumer = Consumer(
            {
                **self._client,
                "group.id": f"{self._transactional_id}-reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
                "fetch.message.max.bytes": MESSAGE_BYTES_MAX,
                "logger": log,
            }
        )
        try:
            consumer.assign([TopicPartition(self.topic, 0, 0)])
            while owner is None or stored.owner != owner:
                first = consumer.poll(POLL_S)
                for message in [] if first is None else [first, *consumer.consume(READ_MAX, 0)]:
                    error = message.error()
                    if error is None:
                        stored.replay(message.key() or b"", message.value())
                    elif error.code() == KafkaError._PARTITION_EOF and owner is None:
                        return stored
                if time.monotonic() > deadline:
                    raise ConfigError(
                        f"cannot read the topic {self.topic} to its end in time (start.timeout.ms)"
                    )
        finally:
            consumer.close()
        return stored
