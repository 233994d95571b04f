"""The command topic, read from its beginning as long as the server runs.

Owns the consumer and the only thread that replays. Creates the topic if it is missing: one partition, kept forever.
Sees only committed records.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from moldau.core.errors import ConfigError, MoldauError

BATCH_MAX: Final = 1_000
POLL_S: Final = 0.1
RETRY_S: Final = 0.2
METADATA_S: Final = 10.0
MESSAGE_BYTES_MAX: Final = 8 << 20

log = logging.getLogger("moldau.sql")

Replay = Callable[[bytes, bytes, int], None]
"""Key, value and offset of a record."""


class NotRead(MoldauError):
    """A command has not been read back in time, or the topic cannot be read any more."""


class CommandTopic:
    def __init__(self, client: Mapping[str, str], topic: str, replay: Replay) -> None:
        self._client = client
        self._topic = topic
        self._replay = replay
        self._changed = threading.Condition()
        self._next = 0
        """The offset after the last record that was replayed or passed over."""
        self._is_loaded = False
        self.failure: str | None = None
        """Why the topic is not read any more."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sql-commands", daemon=True)

    def open(self, deadline: float) -> None:
        """Returns when everything in the topic has been replayed. Raises ConfigError."""
        self._thread.start()
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_loaded or self.failure is not None, deadline - time.monotonic()
            )
        if self.failure is not None or not self._is_loaded:
            reason = self.failure or "it takes too long (ksql.server.start.timeout.ms)"
            self.close()
            raise ConfigError(f"cannot read the command topic {self._topic}: {reason}")

    def close(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def next_offset(self) -> int:
        return self._next

    def wait_until(self, offset: int, timeout_s: float) -> None:
        """Returns when the record at this offset has been replayed. Raises NotRead."""
        with self._changed:
            self._changed.wait_for(lambda: self._next > offset or self.failure is not None, max(timeout_s, 0))
            if self.failure is not None:
                raise NotRead(f"the command topic {self._topic} cannot be read: {self.failure}")
            if self._next <= offset:
                raise NotRead(
                    f"command {offset} of {self._topic} has not been read back after {timeout_s:g} s; "
                    "it may take effect later"
                )

    def wait_for_end(self, timeout_s: float) -> None:
        """Returns when all that is committed now has been replayed. Raises NotRead."""
        deadline = time.monotonic() + timeout_s
        consumer = Consumer({**self._reading, "group.id": f"{self._topic}-end"})
        try:
            _, end = consumer.get_watermark_offsets(TopicPartition(self._topic, 0), timeout_s)
        except KafkaException as error:
            raise NotRead(f"the end of {self._topic} is not known: {error.args[0].str()}") from error
        finally:
            consumer.close()
        if end > 0:
            self.wait_until(end - 1, deadline - time.monotonic())

    @property
    def _reading(self) -> dict[str, Any]:
        return {
            **self._client,
            # A consumer must have a group; nothing is ever committed for it.
            "group.id": f"{self._topic}-reader",
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
            if self._is_empty(consumer):
                # The broker would report it only after a long poll.
                self._take(consumer, [], is_at_end=True)
            consumer.assign([TopicPartition(self._topic, 0, OFFSET_BEGINNING)])
            while not self._stopping.is_set() and self.failure is None:
                # `consume` alone would wait until the batch is full.
                first = consumer.poll(POLL_S)
                if first is not None:
                    self._take(consumer, [first, *consumer.consume(BATCH_MAX, 0)])
        except Exception as error:
            log.exception("the reader of the command topic %s has failed", self._topic)
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            consumer.close()

    def _is_empty(self, consumer: Consumer) -> bool:
        """Returns at once with what is known: a new topic may not have a leader yet."""
        try:
            low, high = consumer.get_watermark_offsets(TopicPartition(self._topic, 0), METADATA_S)
        except KafkaException:
            return False
        return bool(low == high)

    def _take(self, consumer: Consumer, messages: list[Message], *, is_at_end: bool = False) -> None:
        after = self._next
        for message in messages:
            error = message.error()
            offset = message.offset() or 0
            if error is None:
                self._replay(message.key() or b"", message.value() or b"", offset)
                after = offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                # The offset after the markers of transactions, which are no records.
                after = max(after, offset)
                is_at_end = True
            elif error.code() in (
                KafkaError._AUTO_OFFSET_RESET,
                KafkaError.OFFSET_OUT_OF_RANGE,
                KafkaError.UNKNOWN_TOPIC_OR_PART,
            ):
                self._fail(
                    f"its records were deleted while the server runs ({error.str()}). Restart the server"
                )
            elif error.fatal():
                self._fail(error.str())
            else:
                log.warning("reading the command topic %s: %s", self._topic, error.str())
        with self._changed:
            self._next = max(self._next, after)
            self._is_loaded = self._is_loaded or is_at_end
            self._changed.notify_all()

    def _fail(self, reason: str) -> None:
        with self._changed:
            self.failure = reason
            self._changed.notify_all()


def prepare_topic(admin: AdminClient, topic: str, *, replicas: int, min_insync_replicas: int) -> None:
    """Creates the topic if it is missing. Raises ConfigError for one that cannot hold commands."""
    try:
        found = admin.list_topics(timeout=METADATA_S)
        known = found.topics.get(topic)
        if known is None:
            _create(admin, topic, min(replicas, len(found.brokers)), min_insync_replicas)
        elif len(known.partitions) > 1:
            raise ConfigError(
                f"the topic {topic} has {len(known.partitions)} partitions; commands need one, to have an order. "
                "Set another ksql.service.id"
            )
        else:
            _require_kept(admin, topic)
    except KafkaException as error:
        raise ConfigError(f"cannot prepare the command topic {topic}: {error.args[0].str()}") from None


def _create(admin: AdminClient, topic: str, replicas: int, min_insync_replicas: int) -> None:
    configs = {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "min.insync.replicas": str(min(min_insync_replicas, replicas)),
        "max.message.bytes": str(MESSAGE_BYTES_MAX),
    }
    future = admin.create_topics([NewTopic(topic, 1, replicas, config=configs)])[topic]
    try:
        future.result(METADATA_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    except TimeoutError:
        raise ConfigError(f"cannot create the command topic {topic}: no answer from the brokers") from None


def _require_kept(admin: AdminClient, topic: str) -> None:
    """With a retention the definitions would be gone one day."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        entries = admin.describe_configs([resource])[resource].result(METADATA_S)
    except (KafkaException, TimeoutError) as error:
        log.warning("cannot read the settings of topic %s: %s", topic, error)
        return
    retention, policy = entries["retention.ms"].value, entries["cleanup.policy"].value
    if (policy, retention) != ("delete", "-1"):
        raise ConfigError(
            f"the topic {topic} has cleanup.policy={policy} and retention.ms={retention}, which deletes definitions "
            f"after a while. Change it: moldau topics alter {topic} --set cleanup.policy=delete --set retention.ms=-1"
        )
