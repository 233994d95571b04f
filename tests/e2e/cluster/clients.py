"""Clients that write and read while the cluster is being hurt, and remember what they were promised and shown."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from compat.client import ClientFailure, Record
from compat.java_client import JavaClient, JavaDriver
from compat.server_process import wait_until
from e2e.cluster.history import History, Place, Seen, record

DELIVERY_TIMEOUT_MS = 240_000
FLUSH_TIMEOUT_S = 240
PAUSE_S = 0.05
BURST = 5
CLIENT = {"reconnect.backoff.max.ms": 500, "retry.backoff.ms": 50, "log_level": 0}


class Client(threading.Thread):
    """Does its turn over and over until stopped; what it dies of is kept for the test to raise."""

    def __init__(self, name: str, history: History) -> None:
        super().__init__(name=name, daemon=True)
        self.history = history
        self._stopping = threading.Event()

    def begin(self) -> None:
        """Before the first turn."""

    def turn(self) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """After the last turn."""

    def run(self) -> None:
        try:
            self.begin()
            try:
                while not self._stopping.wait(PAUSE_S):
                    self.turn()
            finally:
                self.finish()
        except Exception as error:  # noqa: BLE001 It is raised in the test's thread.
            self.history.failures.append(f"{self.name}: {error!r}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stopping.set()
        self.join(FLUSH_TIMEOUT_S)
        assert not self.is_alive(), f"{self.name} does not end"


class Writer(Client):
    """An idempotent producer of librdkafka with acks=all."""

    def __init__(self, name: str, bootstrap: str, places: Sequence[Place], history: History) -> None:
        super().__init__(name, history)
        self._places = places
        self._number = 0
        self._producer = Producer(
            {
                **CLIENT,
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": DELIVERY_TIMEOUT_MS,
                "linger.ms": 2,
                # With several requests under way librdkafka doubles records by itself, whatever the broker does: one
                # that comes after a refused one is out of sequence, and then it begins a new epoch for all partitions
                # and sends again what another of them may have stored (its issue 4953). Java's client does not.
                "max.in.flight.requests.per.connection": 1,
            }
        )

    def turn(self) -> None:
        for _ in range(BURST):
            topic, partition = self._places[self._number % len(self._places)]
            self._producer.produce(
                topic, partition=partition, value=record(self.name, self._number), on_delivery=self._delivered
            )
            self._number += 1
        self._producer.poll(0)

    def finish(self) -> None:
        left = self._producer.flush(FLUSH_TIMEOUT_S)
        if left:
            self.history.failures.append(f"{self.name}: {left} records were never answered for")

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.history.failures.append(f"{self.name}: {message.value()!r}: {error}")
        else:
            self.history.acknowledge((message.topic(), message.partition()), message.value())


class JavaWriter(Client):
    """An idempotent producer of Kafka's Java client. What fails is not tried again: it may be there or not."""

    def __init__(self, name: str, bootstrap: str, place: Place, history: History, log: Path) -> None:
        super().__init__(name, history)
        self._place = place
        self._number = 0
        self._servers = bootstrap
        self._log = log

    def begin(self) -> None:
        self._driver = JavaDriver(self._log)
        self._client = JavaClient(self._driver, self._servers)

    def turn(self) -> None:
        values = [record(self.name, self._number + step) for step in range(BURST)]
        self._number += BURST
        topic, partition = self._place
        try:
            self._client.produce(topic, [Record(value=value, partition=partition) for value in values])
        except ClientFailure:
            return
        for value in values:
            self.history.acknowledge(self._place, value)

    def finish(self) -> None:
        self._driver.close()


class Banker(Client):
    """Transactions of librdkafka: some commit, some abort."""

    def __init__(
        self, name: str, bootstrap: str, places: Sequence[Place], history: History, rng: Random
    ) -> None:
        super().__init__(name, history)
        self._servers = bootstrap
        self._places = places
        self._rng = rng
        self._serial = 0
        self._number = 0
        self._producer: Producer | None = None

    def turn(self) -> None:
        if self._producer is None and not self._open():
            return
        assert self._producer is not None
        self._serial += 1
        transaction = f"{self.name}-{self._serial}"
        size = self._rng.randrange(1, 6)
        fate = "unknown"
        try:
            self._producer.begin_transaction()
            for _ in range(size):
                topic, partition = self._rng.choice(self._places)
                value = record(self.name, self._number, transaction, size)
                self._number += 1
                self._producer.produce(topic, partition=partition, value=value)
            fate = self._end(self._producer)
        except KafkaException:
            # Its outcome is settled by the next one of this id, either way.
            self._producer = None
        with self.history.lock:
            self.history.transactions[transaction.encode()] = fate

    def _open(self) -> bool:
        producer = Producer(
            {
                **CLIENT,
                "bootstrap.servers": self._servers,
                "transactional.id": self.name,
                "transaction.timeout.ms": 60_000,
                "message.timeout.ms": 60_000,
            }
        )
        try:
            producer.init_transactions(30)
        except KafkaException:
            return False
        self._producer = producer
        return True

    def _end(self, producer: Producer) -> str:
        if self._rng.random() < 0.3:
            producer.flush(30)
            producer.abort_transaction(60)
            return "aborted"
        while True:
            try:
                producer.commit_transaction(60)
                return "committed"
            except KafkaException as failure:
                error = failure.args[0]
                if error.code() == KafkaError.INVALID_TXN_STATE:
                    # Everything was delivered, so the coordinator knew of the transaction. To an abort it may say so,
                    # as Kafka's does: librdkafka aborts also what it is not sure to have announced.
                    self.history.failures.append(f"{self.name}: a transaction was forgotten: {error}")
                if error.txn_requires_abort():
                    producer.abort_transaction(60)
                    return "aborted"
                if not error.retriable():
                    raise


class Reader(Client):
    """Follows some partitions from their beginning."""

    def __init__(self, name: str, bootstrap: str, places: Sequence[Place], history: History) -> None:
        super().__init__(name, history)
        self._servers = bootstrap
        self._places = places

    def begin(self) -> None:
        self._consumer = open_consumer(self._servers, is_committed=self.name.startswith("committed"))
        self._consumer.assign([TopicPartition(*place, 0) for place in self._places])

    def turn(self) -> None:
        for place, seen in taken(self._consumer, 1000):
            if seen is not None:
                self.history.see(self.name, place, *seen)

    def finish(self) -> None:
        self._consumer.close()


def open_consumer(bootstrap: str, *, is_committed: bool) -> Consumer:
    return Consumer(
        {
            **CLIENT,
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed" if is_committed else "read_uncommitted",
            "enable.partition.eof": True,
            "check.crcs": True,
        }
    )


def taken(consumer: Consumer, count_max: int) -> Iterator[tuple[Place, Seen | None]]:
    """What has come; None says that a partition is read to its end."""
    messages: list[Any] = consumer.consume(count_max, timeout=PAUSE_S)
    for message in messages:
        place = (message.topic(), message.partition())
        error = message.error()
        if error is None:
            yield place, Seen(message.offset(), message.value())
        elif error.code() == KafkaError._PARTITION_EOF:
            yield place, None


def read_all(
    bootstrap: str, places: Sequence[Place], *, is_committed: bool, timeout_s: float = 120
) -> Mapping[Place, Sequence[Seen]]:
    found: dict[Place, list[Seen]] = {place: [] for place in places}
    unread = set(places)
    consumer = open_consumer(bootstrap, is_committed=is_committed)

    def is_read() -> bool:
        for place, seen in taken(consumer, 10_000):
            if seen is None:
                unread.discard(place)
            else:
                found[place].append(seen)
        return not unread

    try:
        consumer.assign([TopicPartition(*place, 0) for place in places])
        wait_until(is_read, f"all of {sorted(places)} is read", timeout_s)
    finally:
        consumer.close()
    return found


def wait_for_progress(history: History, count: int, timeout_s: float = 120) -> None:
    """Until so many more records were acknowledged."""
    before = history.acknowledged_count
    wait_until(
        lambda: bool(history.failures) or history.acknowledged_count >= before + count,
        f"{count} more records are acknowledged",
        timeout_s,
    )
