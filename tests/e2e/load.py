"""A load of idempotent producers that remembers what it was promised.

Every record says which producer sent it and as which of that producer's records to that partition, so that a log
shows by itself what is missing, doubled or out of order.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from compat.server_process import wait_until

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
KEYS = 40
FLUSH_TIMEOUT_S = 30
READ_TIMEOUT_S = 30
BURST = 20
BATCH_BYTES_MAX = 8000
"""Well below the segments of the tests: a larger batch would be refused."""

Place = tuple[str, int]
"""Topic and partition."""
Content = tuple[bytes, bytes]
"""Key and value."""


@dataclass(frozen=True)
class Origin:
    producer: str
    number: int


def origin_of(value: bytes) -> Origin:
    producer, number, _ = value.split(b":", 2)
    return Origin(producer.decode(), int(number))


class LoadProducer:
    def __init__(self, bootstrap: str, name: str, places: Sequence[Place], rng: Random) -> None:
        self.name = name
        self.acknowledged: dict[Place, dict[int, Content]] = defaultdict(dict)
        self.failures: list[KafkaError] = []
        self.outstanding = 0
        self._places = places
        self._rng = rng
        self._next_number: dict[Place, int] = defaultdict(int)
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "compression.type": rng.choice(CODECS),
                "linger.ms": rng.choice((0, 1, 5)),
                "batch.num.messages": rng.choice((5, 50, 1000)),
                "batch.size": BATCH_BYTES_MAX,
                "message.timeout.ms": FLUSH_TIMEOUT_S * 1000,
                "reconnect.backoff.ms": 5,
                "reconnect.backoff.max.ms": 20,
                "retry.backoff.ms": 5,
                "retry.backoff.max.ms": 20,
                "log_level": 0,
            }
        )

    def send_burst(self) -> None:
        for _ in range(BURST):
            place = self._rng.choice(self._places)
            number = self._next_number[place]
            self._next_number[place] += 1
            padding = bytes(self._rng.randrange(97, 123) for _ in range(self._rng.randrange(60)))
            self._producer.produce(
                place[0],
                partition=place[1],
                key=b"key-%d" % self._rng.randrange(KEYS),
                value=b"%s:%d:%s" % (self.name.encode(), number, padding),
                on_delivery=self._delivered,
            )
            self.outstanding += 1
        self._producer.poll(0)

    def flush(self) -> None:
        self._producer.flush(FLUSH_TIMEOUT_S)

    def give_up(self) -> None:
        """Stops trying: what is not acknowledged by now may be in the log or not."""
        self._producer.purge()
        self._producer.flush(FLUSH_TIMEOUT_S)
        del self._producer

    @property
    def acknowledged_count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        self.outstanding -= 1
        if error is not None:
            self.failures.append(error)
            return
        place = (message.topic(), message.partition())
        self.acknowledged[place][message.offset()] = (message.key(), message.value())


def drive(producers: Sequence[LoadProducer], acknowledged_min: int) -> None:
    """Keeps all of them busy until so many records are acknowledged; leaves more in flight."""

    def enough() -> bool:
        for producer in producers:
            producer.send_burst()
            assert not producer.failures, f"{producer.name}: {producer.failures[0]}"
        return sum(producer.acknowledged_count for producer in producers) >= acknowledged_min

    wait_until(enough, f"{acknowledged_min} records acknowledged", FLUSH_TIMEOUT_S)


def read_everything(bootstrap: str, places: Iterable[Place]) -> dict[Place, dict[int, Content]]:
    """All records of each partition by offset, from 0 on, in the order in which they came, as librdkafka reads them."""
    wanted = list(places)
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "check.crcs": True,
            "fetch.wait.max.ms": 5,
            "log_level": 0,
        }
    )
    found: dict[Place, dict[int, Content]] = {place: {} for place in wanted}
    unread = set(wanted)

    def all_read() -> bool:
        for message in consumer.consume(10_000, timeout=0.02):
            place = (message.topic(), message.partition())
            error = message.error()
            if error is None:
                assert message.offset() not in found[place], f"offset {message.offset()} came twice"
                found[place][message.offset()] = (message.key(), message.value())
            elif error.code() == KafkaError._PARTITION_EOF:
                unread.discard(place)
            else:
                raise AssertionError(f"{place}: {error}")
        return not unread

    try:
        consumer.assign([TopicPartition(*place, 0) for place in wanted])
        wait_until(all_read, "everything is read", READ_TIMEOUT_S)
    finally:
        consumer.close()
    return found
