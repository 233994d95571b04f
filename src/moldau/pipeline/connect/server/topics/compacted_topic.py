"""A compacted topic, read from its beginning as long as the worker runs.

Owns the consumer and the only thread that replays. Sees only committed records.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from moldau.core.errors import ConfigError, MoldauError

BATCH_MAX: Final = 1_000
POLL_S: Final = 0.1
ANSWER_S: Final = 10.0
MESSAGE_BYTES_MAX: Final = 8 << 20
LOST: Final = frozenset(
    {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE, KafkaError.UNKNOWN_TOPIC_OR_PART}
)

log = logging.getLogger("moldau.connect")

Replay = Callable[[bytes, bytes | None, int], None]
"""Key, value and offset of a record. None is a tombstone."""


class NotRead(MoldauError):
    """What was written has not been read back in time, or the topic cannot be read any more."""


class CompactedTopic:
    def __init__(self, client: Mapping[str, str], topic: str, group: str, replay: Replay) -> None:
        self._client = client
        self._topic = topic
        self._group = group
        self._replay = replay
        self._changed = threading.Condition()
        self._next: dict[int, int] = {}
        """By partition: the offset after the last record that was replayed or passed over."""
        self._unread: set[int] = set()
        """Partitions whose end at the start has not been reached."""
        self._is_loaded = False
        self.failure: str | None = None
        """Why the topic is not read any more."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"connect-{topic}", daemon=True)

    def open(self, deadline: float) -> None:
        """Returns when everything in the topic has been replayed. Raises ConfigError."""
        self._thread.start()
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_loaded or self.failure is not None, deadline - time.monotonic()
            )
        if self.failure is not None or not self._is_loaded:
            reason = self.failure or "it takes too long (worker.start.timeout.ms)"
            self.close()
            raise ConfigError(f"cannot read the topic {self._topic}: {reason}")

    def close(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def wait_until(self, offset: int, timeout_s: float, partition: int = 0) -> None:
        """Returns when the record at this offset has been replayed. Raises NotRead."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._next.get(partition, 0) > offset or self.failure is not None, max(timeout_s, 0)
            )
            if self.failure is not None:
                raise NotRead(f"the topic {self._topic} cannot be read: {self.failure}")
            if self._next.get(partition, 0) <= offset:
                raise NotRead(
                    f"record {offset} of {self._topic} has not been read back after {timeout_s:g} s; it may take "
                    "effect later"
                )

    def wait_for_end(self, timeout_s: float, partition: int = 0) -> None:
        """Returns when all that is committed now has been replayed. Raises NotRead."""
        deadline = time.monotonic() + timeout_s
        consumer = Consumer({**self._reading, "group.id": f"{self._group}-end"})
        try:
            _, end = consumer.get_watermark_offsets(TopicPartition(self._topic, partition), timeout_s)
        except KafkaException as error:
            raise NotRead(f"the end of {self._topic} is not known: {error.args[0].str()}") from error
        finally:
            consumer.close()
        if end > 0:
            self.wait_until(end - 1, deadline - time.monotonic(), partition)

    @property
    def _reading(self) -> dict[str, Any]:
        return {
            **self._client,
            # A consumer must have a group; nothing is ever committed for it.
            "group.id": f"{self._group}-reader",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
            "fetch.message.max.bytes": MESSAGE_BYTES_MAX,
            "logger": log,
        }

    def _run(self) -> None:
        consumer = Consumer(self._reading)
        try:
            partitions = self._partitions(consumer)
            self._unread = set(partitions)
            empty = [partition for partition in partitions if self._is_empty(consumer, partition)]
            # The broker would report it only after a long poll.
            self._take(consumer, [], at_end=empty)
            consumer.assign(
                [TopicPartition(self._topic, partition, OFFSET_BEGINNING) for partition in partitions]
            )
            while not self._stopping.is_set() and self.failure is None:
                # `consume` alone would wait until the batch is full.
                first = consumer.poll(POLL_S)
                if first is not None:
                    self._take(consumer, [first, *consumer.consume(BATCH_MAX, 0)])
        except Exception as error:
            log.exception("the reader of the topic %s has failed", self._topic)
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            consumer.close()

    def _partitions(self, consumer: Consumer) -> list[int]:
        """Of a topic that may have been created a moment ago."""
        end = time.monotonic() + ANSWER_S
        while True:
            found = consumer.list_topics(self._topic, timeout=ANSWER_S).topics[self._topic].partitions
            if found or time.monotonic() > end or self._stopping.wait(POLL_S):
                return sorted(found)

    def _is_empty(self, consumer: Consumer, partition: int) -> bool:
        """Returns at once with what is known: a new topic may not have a leader yet."""
        try:
            low, high = consumer.get_watermark_offsets(TopicPartition(self._topic, partition), ANSWER_S)
        except KafkaException:
            return False
        return bool(low == high)

    def _take(self, consumer: Consumer, messages: list[Message], at_end: list[int] | None = None) -> None:
        after = dict(self._next)
        ended = set(at_end or ())
        for message in messages:
            error, partition = message.error(), message.partition() or 0
            offset = message.offset() or 0
            if error is None:
                self._replay(message.key() or b"", message.value(), offset)
                after[partition] = offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                # The offset after the markers of transactions, which are no records.
                after[partition] = max(after.get(partition, 0), offset)
                ended.add(partition)
            elif error.code() in LOST:
                self._fail(
                    f"its records were deleted while the worker runs ({error.str()}). Restart the worker"
                )
            elif error.fatal():
                self._fail(error.str())
            else:
                log.warning("reading the topic %s: %s", self._topic, error.str())
        with self._changed:
            self._next = after
            self._unread -= ended
            self._is_loaded = self._is_loaded or not self._unread
            self._changed.notify_all()

    def _fail(self, reason: str) -> None:
        with self._changed:
            self.failure = reason
            self._changed.notify_all()
