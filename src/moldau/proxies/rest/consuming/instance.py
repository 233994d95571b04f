"""One consumer instance: a consumer of Kafka, and the positions up to which its client has received records.

All methods block and are called by one thread at a time; `Instances` sees to that. Offsets are committed for records
that the client has received: those of a read count as received when the client asks again, or says so.
"""

import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from moldau.proxies.rest.consuming.records import record_json, size_of
from moldau.proxies.rest.failures import (
    UNKNOWN_TOPIC,
    already_subscribed,
    illegal_state,
    of_kafka,
    partition_not_found,
)
from moldau.proxies.rest.formats.schemas import Schemas

Partition = tuple[str, int]
PORTION: Final = 1_000
SEEK_S_MAX: Final = 10.0
TURN_S: Final = 0.05
LOOK_S: Final = 0.25
"""How often a read looks whether its client is still there."""
TIMEOUT_S: Final = 30.0
BEGINNING: Final = OFFSET_BEGINNING
END: Final = OFFSET_END
OTHER: Final = "Subscription to topics, partitions and pattern are mutually exclusive."
NO_RECORDS: Final = frozenset({KafkaError._PARTITION_EOF})

log = logging.getLogger("moldau.rest")


class Instance:
    """`format` is the one of its records, `auto_commit` whether offsets are committed by themselves."""

    def __init__(
        self, properties: Mapping[str, Any], name: str, schemas: Schemas, *, auto_commit: bool
    ) -> None:
        self.format = name
        self.auto_commit = auto_commit
        self._schemas = schemas
        self._consumer = Consumer({**properties, "enable.auto.offset.store": "false"}, logger=log)
        self._waiting: deque[Message] = deque()
        """Fetched, and not returned yet."""
        self._returned: dict[Partition, int] = {}
        """The offset after the last record that was returned."""
        self._stored: dict[Partition, int] = {}
        """What the consumer was told of it: it is what auto commit commits."""
        self._topics: list[str] = []
        self._is_pattern = False
        self._is_assigned = False
        self.fetch_bytes_min = -1

    def close(self, *, received: bool) -> None:
        """`received`: the client said goodbye, so it has what was returned."""
        if received and self.auto_commit:
            self._store_returned()
        self._consumer.close()

    def subscribe(self, topics: Sequence[str]) -> None:
        """A pattern is a single topic that begins with ^. Raises RestFailure 40903."""
        if self._is_assigned:
            raise illegal_state(
                f"{OTHER} This instance has partitions assigned by hand; delete it, or assign none."
            )
        self._consumer.subscribe(list(topics), on_revoke=self._revoked, on_lost=self._revoked)
        self._topics = list(topics)
        self._is_pattern = len(topics) == 1 and topics[0].startswith("^")

    def subscription(self) -> list[str]:
        return [] if self._is_pattern else list(self._topics)

    def unsubscribe(self) -> None:
        if self.auto_commit:
            self._store_returned()
        self._consumer.unsubscribe()
        self._forget_all()
        self._topics, self._is_assigned = [], False

    def assign(self, partitions: Sequence[Partition]) -> None:
        """Raises RestFailure 40903 if it is subscribed to topics."""
        if self._topics:
            raise illegal_state(
                f"{OTHER} This instance is subscribed to {', '.join(self._topics)}; DELETE its subscription first."
            )
        self._forget_all(kept=set(partitions))
        self._consumer.assign(
            [
                TopicPartition(*partition, self._returned.get(partition, OFFSET_INVALID))
                for partition in partitions
            ]
        )
        self._is_assigned = bool(partitions)

    def assignment(self) -> list[Partition]:
        return sorted((each.topic, each.partition) for each in self._consumer.assignment())

    def read(
        self,
        timeout_s: float,
        bytes_max: int,
        *,
        text_offsets: bool = False,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> list[dict[str, Any]]:
        """Returns as soon as there are records, at least one of any size. Returns none once nobody wants them, and the
        next read has them. Raises RestFailure."""
        if not self._topics and not self._is_assigned:
            raise illegal_state(
                "Consumer is not subscribed to any topics or assigned any partitions. POST topics to its subscription, "
                "or partitions to its assignments."
            )
        if self.auto_commit:
            self._store_returned()
        self._fetch(timeout_s, min(bytes_max, self.fetch_bytes_min), is_wanted)
        if not is_wanted():
            return []
        records: list[dict[str, Any]] = []
        size = 0
        while self._waiting:
            message = self._waiting[0]
            size += size_of(message)
            if records and size > bytes_max:
                break
            if message.error() is not None:
                if records:
                    break
                self._waiting.popleft()
                raise of_kafka(message.error())  # type: ignore[arg-type]
            try:
                records.append(record_json(self._schemas, self.format, message, text_offsets=text_offsets))
            except Exception:
                # The records before it are returned first; the next read meets it again.
                if records:
                    break
                raise
            self._waiting.popleft()
            self._returned[_partition(message)] = (message.offset() or 0) + 1
        return records

    def subscribe_to_one(self, topic: str) -> None:
        """For the path of v1. Raises RestFailure 40901 if it is subscribed to another topic."""
        if self._is_assigned or self._topics not in ([], [topic]):
            raise already_subscribed(
                "GET .../topics/{topic} reads one topic, as version 1 of the API; for more, POST the topics to "
                "/subscription, and GET /records."
            )
        if not self._topics:
            self.subscribe([topic])

    def commit(self, offsets: Mapping[Partition, tuple[int, str]] | None) -> list[TopicPartition]:
        """Of all records that were returned, or these offsets, each with its metadata. Offsets are the next ones to
        read. Returns what is committed."""
        if offsets is None:
            wanted = [TopicPartition(*key, offset) for key, offset in self._returned.items()]
        else:
            wanted = [TopicPartition(*key, offset, text) for key, (offset, text) in offsets.items()]
        if not wanted:
            return []
        done = self._consumer.commit(offsets=wanted, asynchronous=False) or []
        for each in done:
            if each.error is not None:
                raise of_kafka(each.error)
        return list(done)

    def committed(self, partitions: Sequence[Partition]) -> list[TopicPartition]:
        """Those that have a committed offset."""
        if not partitions:
            return []
        found = self._consumer.committed([TopicPartition(*each) for each in partitions], timeout=TIMEOUT_S)
        for each in found:
            if each.error is not None:
                raise of_kafka(each.error)
        return [each for each in found if each.offset >= 0]

    def seek(self, offsets: Mapping[Partition, int]) -> None:
        """Raises RestFailure 40903 for a partition that is not assigned."""
        assigned = set(self.assignment())
        if missing := [key for key in offsets if key not in assigned]:
            topic, partition = missing[0]
            raise illegal_state(
                f"No current assignment for partition {topic}-{partition}. With a subscription, GET /records once to "
                "join the group; else POST the partition to /assignments."
            )
        self._waiting = deque(each for each in self._waiting if _partition(each) not in offsets)
        for key, offset in offsets.items():
            self._returned.pop(key, None)
            self._stored.pop(key, None)
            self._seek_one(TopicPartition(*key, offset), set(offsets))

    def _seek_one(self, place: TopicPartition, sought: set[Partition]) -> None:
        deadline = time.monotonic() + SEEK_S_MAX
        while True:
            try:
                self._consumer.seek(place)
                return
            except KafkaException as error:
                # A partition that was just assigned cannot be sought until the consumer has begun to fetch it.
                if error.args[0].code() != KafkaError._STATE or time.monotonic() > deadline:
                    raise
            message = self._consumer.poll(TURN_S)
            if message is not None and message.error() is None and _partition(message) not in sought:
                self._waiting.append(message)

    def _fetch(self, timeout_s: float, bytes_min: int, is_wanted: Callable[[], bool]) -> None:
        """Until there are more bytes than that, or the time is over."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._waiting.extend(
                message
                for message in self._consumer.consume(PORTION, 0)
                if message.error() is None or self._matters(message)
            )
            size = sum(map(size_of, self._waiting)) if bytes_min > 0 else 0
            left = deadline - time.monotonic()
            if (self._waiting and size >= bytes_min) or left <= 0 or len(self._waiting) >= PORTION:
                return
            if not is_wanted():
                return
            message = self._consumer.poll(min(left, LOOK_S))
            if message is not None and (message.error() is None or self._matters(message)):
                self._waiting.append(message)

    def _matters(self, message: Message) -> bool:
        """Whether an event of the consumer ends the read. Others pass while it goes on by itself."""
        error = message.error()
        assert error is not None
        if error.code() in NO_RECORDS or (error.code() in UNKNOWN_TOPIC and not self._is_assigned):
            # A topic of a subscription may be created later.
            return False
        if error.code() == KafkaError._UNKNOWN_PARTITION and self._is_assigned:
            raise partition_not_found(message.topic() or "", message.partition() or 0)
        return error.fatal() or not error.retriable()

    def _store_returned(self) -> None:
        news = {key: offset for key, offset in self._returned.items() if self._stored.get(key) != offset}
        for key, offset in news.items():
            # One at a time: a partition that was taken away fails, and the others count.
            with contextlib.suppress(KafkaException):
                self._consumer.store_offsets(offsets=[TopicPartition(*key, offset)])
            self._stored[key] = offset

    def _revoked(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        gone = {(each.topic, each.partition) for each in partitions}
        self._waiting = deque(each for each in self._waiting if _partition(each) not in gone)
        for key in gone:
            self._returned.pop(key, None)
            self._stored.pop(key, None)

    def _forget_all(self, kept: set[Partition] | None = None) -> None:
        self._waiting = deque(each for each in self._waiting if kept and _partition(each) in kept)
        if kept:
            first: dict[Partition, int] = {}
            for message in self._waiting:
                first.setdefault(_partition(message), message.offset() or 0)
            self._waiting.clear()
            self._returned = {key: at for key, at in (self._returned | first).items() if key in kept}
        else:
            self._returned.clear()
            self._stored.clear()


def _partition(message: Message) -> Partition:
    return message.topic() or "", message.partition() or 0
