"""Reads without a consumer instance: the client says where to read, and receives where to go on.

Nothing is kept between requests, so any proxy behind a load balancer answers. Consumers are pooled, because making one
takes longer than a read.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from moldau.proxies.rest.consuming.records import record_json, size_of
from moldau.proxies.rest.failures import RestFailure, of_kafka, partition_not_found, topic_not_found
from moldau.proxies.rest.formats.schemas import Schemas
from moldau.proxies.rest.settings import RestSettings
from moldau.proxies.rest.threads import Threads

T = TypeVar("T")
Partition = tuple[str, int]
GROUP: Final = "moldau-rest-reads"
"""Needed by the client library; nothing joins it, and nothing is committed, so a user needs no right to it."""
IDLE_MAX: Final = 4
GROUP_S_MAX: Final = 1.0
GROUP_TURN_S: Final = 0.05

log = logging.getLogger("moldau.rest")


class Reader:
    """A consumer at the positions of one request. Blocks; used by one thread at a time."""

    def __init__(self, consumer: Consumer, schemas: Schemas, positions: Mapping[Partition, int]) -> None:
        self._consumer = consumer
        self._schemas = schemas
        self.positions = dict(positions)
        self.is_group_refused = False
        consumer.assign([TopicPartition(*key, offset) for key, offset in positions.items()])

    def read(
        self, name: str, timeout_s: float, records_max: int, bytes_max: int, *, text_offsets: bool
    ) -> list[dict[str, Any]]:
        """Returns as soon as there are records. Advances the positions. Raises RestFailure."""
        deadline = time.monotonic() + timeout_s
        records: list[dict[str, Any]] = []
        size = 0
        while len(records) < records_max and size < bytes_max:
            left = max(deadline - time.monotonic(), 0.0)
            message = self._consumer.poll(0 if records else left)
            if message is None:
                if records or left <= 0:
                    break
                continue
            error = message.error()
            if error is not None:
                self._check(error, message.topic() or "", message.partition() or 0)
                continue
            key = (message.topic() or "", message.partition() or 0)
            try:
                record = record_json(self._schemas, name, message, text_offsets=text_offsets, extended=True)
            except RestFailure:
                if records:
                    self._consumer.seek(TopicPartition(*key, message.offset() or 0))
                    break
                raise
            records.append(record)
            size += size_of(message)
            self.positions[key] = (message.offset() or 0) + 1
        return records

    def _check(self, error: KafkaError, topic: str, partition: int) -> None:
        if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            # The library asks for the coordinator of GROUP all the same. The positions are given, so it reads without.
            self.is_group_refused = True
            return
        if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            raise topic_not_found(topic)
        if error.code() == KafkaError._UNKNOWN_PARTITION:
            raise partition_not_found(topic, partition)
        if error.code() != KafkaError._PARTITION_EOF and (error.fatal() or not error.retriable()):
            raise of_kafka(error)


class SimpleConsumers:
    """The pool. Its number of consumers is limited; who finds none free gets 50301."""

    def __init__(
        self, settings: RestSettings, properties: Mapping[str, str], schemas: Schemas, threads: Threads
    ) -> None:
        self._max = settings.simple_consumers_max
        self._properties = {
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": "8192",
            **properties,
            "group.id": GROUP,
            "enable.auto.commit": "false",
            "enable.partition.eof": "false",
        }
        self._schemas = schemas
        self._threads = threads
        self._idle: list[Consumer] = []
        self._lock = threading.Lock()
        self._is_open = True
        is_plain = properties.get("security.protocol", "plaintext").lower() == "plaintext"
        self._may_keep: bool | None = True if is_plain else None
        """Whether consumers are kept for the next read; None until the cluster has said whether it lets the user ask
        for GROUP. Where nobody logs in everybody may."""
        self.in_use = 0

    def prepare(self) -> None:
        """Makes one now, so that settings that Kafka's client rejects are known before the proxy starts."""
        Consumer(self._properties, logger=log).close()

    async def open(self, positions: Mapping[Partition, int]) -> Reader:
        """The caller gives it back with `give_back`. Raises RestFailure 50301."""
        if self.in_use >= self._max:
            raise RestFailure(
                50301,
                "No SimpleConsumer is available at the time in the pool. The request can be retried. You can increase "
                f"the pool size, which is {self._max} (simpleconsumer.pool.size.max).",
            )
        self.in_use += 1
        try:
            return await self.on_thread(lambda: Reader(self._take(), self._schemas, positions))
        except BaseException:
            self.in_use -= 1
            raise

    async def give_back(self, reader: Reader) -> None:
        """After its last read has ended."""
        try:
            await self.on_thread(lambda: self._put(reader))
        finally:
            self.in_use -= 1

    async def on_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads.reads, work)
        except KafkaException as error:
            raise of_kafka(error) from None

    def close(self) -> None:
        with self._lock:
            self._is_open = False
            idle, self._idle = self._idle, []
        for consumer in idle:
            consumer.close()

    def _take(self) -> Consumer:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Consumer(self._properties, logger=log)

    def _put(self, reader: Reader) -> None:
        consumer = reader._consumer
        try:
            consumer.unassign()
            if reader.is_group_refused:
                self._may_keep = False
            elif self._may_keep is None and reader.positions:
                self._may_keep = _may_use_group(consumer, TopicPartition(*next(iter(reader.positions))))
            with self._lock:
                if self._is_open and self._may_keep is not False and len(self._idle) < IDLE_MAX:
                    self._idle.append(consumer)
                    return
        except KafkaException:
            log.exception("a consumer is closed after a failure")
        consumer.close()


def _may_use_group(consumer: Consumer, partition: TopicPartition) -> bool | None:
    """Whether the cluster lets the user ask for GROUP; None if it does not say in time. A consumer that may not asks
    again every second as long as it exists, and the cluster logs each refusal."""
    deadline = time.monotonic() + GROUP_S_MAX
    while time.monotonic() < deadline:
        message = consumer.poll(0)
        error = None if message is None else message.error()
        if error is not None and error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            return False
        try:
            consumer.committed([partition], GROUP_TURN_S)
            return True
        except KafkaException as failure:
            if failure.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                return False
    return None
