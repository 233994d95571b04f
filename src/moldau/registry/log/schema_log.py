"""The `_schemas` topic, read from its beginning as long as the registry runs.

Owns the consumer and the only thread that replays. Creates the topic if it is missing. Sees only committed records.
Does not decide which instance may write.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from moldau.core.errors import ConfigError
from moldau.registry.failures import store_failed, timed_out
from moldau.registry.log.records import Fact, decode

BATCH_MAX: Final = 1_000
POLL_S: Final = 0.1
RETRY_S: Final = 0.2
METADATA_S: Final = 10.0
REPLICAS_MAX: Final = 3

log = logging.getLogger("moldau.registry")


class SchemaLog:
    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        replay: Callable[[Fact], None],
        *,
        replication_factor: int,
    ) -> None:
        self._client = client
        self._topic = topic
        self._replay = replay
        self._replication_factor = replication_factor
        self._changed = threading.Condition()
        self._offset = -1
        self._is_loaded = False
        self._failure: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="registry-reader", daemon=True)
        self.cluster_id = ""

    def open(self, timeout_s: float) -> None:
        """Returns when everything in the topic has been replayed. Raises ConfigError when the topic cannot hold
        schemas."""
        deadline = time.monotonic() + timeout_s
        self._prepare(deadline)
        self._thread.start()
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_loaded or self._failure is not None, deadline - time.monotonic()
            )
        if self._failure is not None or not self._is_loaded:
            reason = self._failure or f"it took more than {timeout_s:g} s (kafkastore.init.timeout.ms)"
            self.close()
            raise ConfigError(f"cannot read the topic {self._topic}: {reason}")

    def close(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def wait_until(self, offset: int, timeout_s: float) -> None:
        """Returns when the record at this offset has been replayed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._offset >= offset or self._failure is not None, max(timeout_s, 0)
            )
            if self._failure is not None:
                raise store_failed(f"The registry cannot read its topic {self._topic}: {self._failure}")
            if self._offset < offset:
                raise timed_out(
                    f"The record written to {self._topic} has not been read back after {timeout_s:g} s. Try again: "
                    "it may be registered already."
                )

    def wait_for(self, is_so: Callable[[], bool], timeout_s: float) -> bool:
        """Waits until a condition holds that replaying may bring about."""
        with self._changed:
            return self._changed.wait_for(is_so, max(timeout_s, 0))

    def wake(self) -> None:
        """Makes the waiting callers check again."""
        with self._changed:
            self._changed.notify_all()

    def _prepare(self, deadline: float) -> None:
        try:
            admin = AdminClient({**self._client, "log_level": 0})
        except KafkaException as error:
            raise ConfigError(
                f"the Kafka client rejects its settings: {error.args[0].str()} "
                "The keys after `kafkastore.` are librdkafka's."
            ) from None
        while True:
            left = deadline - time.monotonic()
            try:
                found = admin.list_topics(timeout=max(min(left, 5.0), 0.1))
                break
            except KafkaException as error:
                if time.monotonic() >= deadline:
                    servers = self._client.get("bootstrap.servers")
                    raise ConfigError(
                        f"no Kafka broker answers at {servers}: {error.args[0].str()}. "
                        "Start one, or set kafkastore.bootstrap.servers."
                    ) from None
                self._stopping.wait(RETRY_S)
        self.cluster_id = found.cluster_id or ""
        topic = found.topics.get(self._topic)
        if topic is None:
            self._create(admin, min(self._replication_factor, len(found.brokers)), deadline)
            return
        if len(topic.partitions) > 1:
            raise ConfigError(
                f"the topic {self._topic} has {len(topic.partitions)} partitions; schemas need one, to have an "
                "order. Choose another with kafkastore.topic."
            )
        self._check_compacted(admin)

    def _create(self, admin: AdminClient, replicas: int, deadline: float) -> None:
        wanted = NewTopic(self._topic, 1, replicas, config={"cleanup.policy": "compact"})
        future = admin.create_topics([wanted])[self._topic]
        try:
            future.result(max(deadline - time.monotonic(), 1.0))
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise ConfigError(f"cannot create the topic {self._topic}: {error.args[0].str()}") from None
        except TimeoutError:
            raise ConfigError(f"cannot create the topic {self._topic}: no answer from the brokers") from None

    def _check_compacted(self, admin: AdminClient) -> None:
        """With a retention the schemas would be deleted one day, and the data that needs them would be unreadable."""
        resource = ConfigResource(ResourceType.TOPIC, self._topic)
        try:
            entries = admin.describe_configs([resource])[resource].result(METADATA_S)
        except (KafkaException, TimeoutError) as error:
            log.warning("cannot read the settings of topic %s: %s", self._topic, error)
            return
        policy = entries["cleanup.policy"].value
        if policy != "compact":
            raise ConfigError(
                f"the topic {self._topic} has cleanup.policy={policy}, which deletes schemas after a while. Change it: "
                f"moldau topics alter {self._topic} --set cleanup.policy=compact"
            )

    def _run(self) -> None:
        settings: dict[str, Any] = {
            **self._client,
            # A consumer must have a group; nothing is ever committed for it.
            "group.id": f"schema-registry-reader-{self._topic}",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 500,
            "logger": log,
        }
        consumer = Consumer(settings)
        try:
            if self._is_empty(consumer):
                # The broker would report it only after a long poll.
                self._take([], is_at_end=True)
            consumer.assign([TopicPartition(self._topic, 0, OFFSET_BEGINNING)])
            while not self._stopping.is_set() and self._failure is None:
                # `consume` alone would wait until the batch is full.
                first = consumer.poll(POLL_S)
                if first is not None:
                    self._take([first, *consumer.consume(BATCH_MAX, 0)])
        except Exception as error:
            log.exception("the reader of topic %s has failed", self._topic)
            self._fail(str(error))
        finally:
            consumer.close()

    def _is_empty(self, consumer: Consumer) -> bool:
        """Returns at once with what is known: a new topic may not have a leader yet."""
        try:
            low, high = consumer.get_watermark_offsets(TopicPartition(self._topic, 0), METADATA_S)
        except KafkaException:
            return False
        return bool(low == high)

    def _take(self, messages: list[Message], *, is_at_end: bool = False) -> None:
        offset = -1
        for message in messages:
            error = message.error()
            if error is None:
                self._replay(decode(message.key(), message.value(), message.timestamp()[1]))
                offset = message.offset() or 0
            elif error.code() == KafkaError._PARTITION_EOF:
                is_at_end = True
            elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                self._fail(f"records were deleted under the registry ({error.str()}); restart it")
            elif error.fatal():
                self._fail(error.str())
            else:
                log.warning("reading topic %s: %s", self._topic, error.str())
        with self._changed:
            self._offset = max(self._offset, offset)
            self._is_loaded = self._is_loaded or is_at_end
            self._changed.notify_all()

    def _fail(self, reason: str) -> None:
        with self._changed:
            self._failure = reason
            self._changed.notify_all()
