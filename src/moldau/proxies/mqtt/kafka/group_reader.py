"""Reads the topics as a member of a consumer group, on a thread of its own: proxies with the same group share them."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from moldau.proxies.mqtt.session.messages import Partition

POLL_S: Final = 0.2
TAKEN_MAX: Final = 200
ANSWER_S: Final = 10.0
REFRESH_S: Final = 1.0

log = logging.getLogger("moldau.mqtt")

T = TypeVar("T")


class GroupReader:
    """Every method but `on_thread` and `close_later` runs on the reader's thread."""

    def __init__(self, client: Mapping[str, str], group: str, pattern: Any) -> None:
        self._thread = ThreadPoolExecutor(1, "mqtt-shared")
        self._pattern = pattern
        self._settings: dict[str, Any] = {
            **client,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
            "logger": log,
        }
        self._consumer: Consumer | None = None
        self._topics: set[str] = set()
        self._first_topics: set[str] | None = None
        """Those that were there when the group began; a later one is read from its beginning."""
        self._refresh_at = 0.0
        self.is_assigned = False

    async def on_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Does the work on the reader's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def close_later(self, offsets: Mapping[Partition, int]) -> None:
        """Commits, and leaves the group."""
        self._thread.submit(self._close, dict(offsets))
        self._thread.shutdown(wait=False)

    def take(self) -> list[Message]:
        """What has come, after a short wait at most."""
        consumer = self._consumer
        if consumer is None:
            consumer = self._consumer = Consumer(self._settings)
        if time.monotonic() >= self._refresh_at:
            self._refresh(consumer)
        first = consumer.poll(POLL_S)
        return [] if first is None else [first, *consumer.consume(TAKEN_MAX, 0)]

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """The next records for the group."""
        if self._consumer is not None and offsets:
            try:
                self._consumer.commit(offsets=_positions(offsets), asynchronous=False)
            except KafkaException as error:
                log.warning("committing what a shared subscription has read: %s", error.args[0].str())

    def _refresh(self, consumer: Consumer) -> None:
        self._refresh_at = time.monotonic() + REFRESH_S
        try:
            known = consumer.list_topics(timeout=ANSWER_S).topics
        except KafkaException as error:
            log.warning("looking for new topics: %s; trying again", error.args[0].str())
            return
        topics = {name for name in known if self._pattern.fullmatch(name)}
        if topics and topics != self._topics:
            self._topics = topics
            if self._first_topics is None:
                self._first_topics = topics
            consumer.subscribe(sorted(topics), on_assign=self._assigned)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """A group begins at the end, and commits that: what comes from now on is for it."""
        try:
            found = consumer.committed(partitions, ANSWER_S)
            new = [one for one in found if one.offset < 0]
            for one in new:
                low, end = consumer.get_watermark_offsets(one, ANSWER_S, cached=False)
                one.offset = end if one.topic in (self._first_topics or ()) else low
            consumer.assign(found)
            if new:
                consumer.commit(offsets=new, asynchronous=False)
        except KafkaException as error:
            log.warning("beginning a shared subscription: %s", error.args[0].str())
            consumer.assign(partitions)
        self.is_assigned = True

    def _close(self, offsets: Mapping[Partition, int]) -> None:
        if self._consumer is not None:
            self.commit(offsets)
            self._consumer.close()
            self._consumer = None


def is_harmless(error: KafkaError) -> bool:
    """The end of a partition is no failure."""
    return bool(error.code() == KafkaError._PARTITION_EOF)


def _positions(offsets: Mapping[Partition, int]) -> list[TopicPartition]:
    return [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
