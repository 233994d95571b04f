"""A consumer on a thread of its own, for the event loop: partitions are assigned by hand, nothing is committed."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from moldau.proxies.mqtt.session.messages import Partition

POLL_S: Final = 0.5
TAKEN_MAX: Final = 500
ANSWER_S: Final = 10.0
QUEUED_KB_MAX: Final = 8_192
LOST: Final = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})

log = logging.getLogger("moldau.mqtt")

T = TypeVar("T")


class PartitionReader:
    """Every method but `close_later` and `on_thread` runs on the reader's thread."""

    def __init__(self, client: Mapping[str, str], name: str, *, fetch_wait_ms: int = 100) -> None:
        self._thread = ThreadPoolExecutor(1, f"mqtt-{name}")
        self._settings: dict[str, Any] = {
            **client,
            # A consumer must have a group; nothing is ever committed for it.
            "group.id": f"moldau-mqtt-{name}",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": fetch_wait_ms,
            "queued.max.messages.kbytes": QUEUED_KB_MAX,
            "logger": log,
        }
        self._consumer: Consumer | None = None

    @property
    def consumer(self) -> Consumer:
        if self._consumer is None:
            self._consumer = Consumer(self._settings)
        return self._consumer

    async def on_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Does the work on the reader's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def close_later(self) -> None:
        """When the work it has is done."""
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def partitions(self, pattern: Any) -> list[Partition]:
        """Of all topics whose name the pattern matches."""
        found = self.consumer.list_topics(timeout=ANSWER_S).topics
        return [
            Partition(name, number)
            for name, topic in found.items()
            if pattern.fullmatch(name)
            for number in topic.partitions
        ]

    def end_of(self, partition: Partition) -> int:
        """The offset after the last committed record."""
        _, end = self.consumer.get_watermark_offsets(TopicPartition(*partition), ANSWER_S, cached=False)
        return int(end)

    def assign(self, starts: Mapping[Partition, int]) -> None:
        """In addition to what is assigned."""
        self.consumer.incremental_assign(
            [TopicPartition(topic, number, offset) for (topic, number), offset in starts.items()]
        )

    def take(self) -> list[Message]:
        """What has come, after a short wait at most."""
        # `consume` alone would wait until so many are there.
        first = self.consumer.poll(POLL_S)
        return [] if first is None else [first, *self.consumer.consume(TAKEN_MAX, 0)]
