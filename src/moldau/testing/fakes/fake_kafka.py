"""A cluster without a broker, for unit tests: topics in memory, and clients with confluent-kafka's interface.

    kafka = FakeKafka()
    producer = kafka.producer({})
    consumer = kafka.consumer({"group.id": "shop", "auto.offset.reset": "earliest"})

Nothing is sent anywhere, nothing happens in the background, and no call waits longer than an empty poll: what a real
client does on threads of its own happens here in produce(), poll() and flush().
"""

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka.admin import BrokerMetadata, ClusterMetadata, PartitionMetadata, TopicMetadata

from moldau.testing.fakes.fake_group import FakeGroup
from moldau.testing.fakes.fake_log import FakeLog, FakeTransaction, PartitionKey, require_messages
from moldau.testing.fakes.fake_transactions import FakeTransactionalIds

if TYPE_CHECKING:
    from moldau.testing.fakes.fake_consumer import FakeConsumer
    from moldau.testing.fakes.fake_producer import FakeProducer

WAIT_S_MAX = 0.01
"""How long a poll without a record waits at most, so that other threads can run."""


class FakeKafka:
    """`partitions` is the number of partitions of a topic that is created on first use. With 0 an unknown topic is an
    error."""

    def __init__(self, *, partitions: int = 1) -> None:
        require_messages()
        self._default_partitions = partitions
        self._topics: dict[str, list[FakeLog]] = {}
        self._groups: dict[str, FakeGroup] = {}
        self._failures: defaultdict[str, list[KafkaError]] = defaultdict(list)
        self.transactional_ids = FakeTransactionalIds(self)
        self._serial = itertools.count(1)
        self.changed = threading.Condition(threading.RLock())
        """Every call of the clients holds it, so that threads may share a cluster. Notified of new records."""

    # For tests.

    def producer(self, config: Mapping[str, Any] | None = None, **settings: Any) -> "FakeProducer":
        """Takes what confluent_kafka.Producer takes, and can replace it."""
        from moldau.testing.fakes.fake_producer import FakeProducer

        return FakeProducer(self, {**(config or {}), **settings})

    def consumer(self, config: Mapping[str, Any] | None = None, **settings: Any) -> "FakeConsumer":
        """Takes what confluent_kafka.Consumer takes, and can replace it."""
        from moldau.testing.fakes.fake_consumer import FakeConsumer

        return FakeConsumer(self, {**(config or {}), **settings})

    def create_topic(self, name: str, partitions: int = 1) -> str:
        """Creates a topic, or adds partitions to an existing one. Returns its name."""
        with self.changed:
            logs = self._topics.setdefault(name, [])
            logs.extend(FakeLog(name, number) for number in range(len(logs), partitions))
            for group in self._groups.values():
                group.topic_changed(name)
            return name

    def put(
        self,
        topic: str,
        value: str | bytes | None,
        key: str | bytes | None = None,
        *,
        partition: int = 0,
        timestamp_ms: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
    ) -> int:
        """Writes a record as another producer would. Returns its offset."""
        with self.changed:
            logs = self.logs_to_write(topic) or []
            if partition >= len(logs):
                raise ValueError(f"topic '{topic}' has {len(logs)} partition(s): add more with create_topic")
            content = [part.encode() if isinstance(part, str) else part for part in (key, value)]
            written_ms = self.now_ms() if timestamp_ms is None else timestamp_ms
            entry = logs[partition].append(content[0], content[1], headers, written_ms, None)
            self.changed.notify_all()
            return entry.offset

    def records(self, topic: str, *, uncommitted: bool = False) -> list[Message]:
        """The records that consumers of the topic get, partition by partition."""
        with self.changed:
            found = []
            for log in self._topics.get(topic, []):
                offset = log.start
                while (entry := log.read(offset, not uncommitted)) is not None:
                    found.append(log.message(entry))
                    offset = entry.offset + 1
            return found

    def committed(self, group: str) -> dict[PartitionKey, int]:
        """The committed offsets of a group, by topic and partition."""
        with self.changed:
            return dict(self._groups[group].offsets) if group in self._groups else {}

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        """Deletes records as retention does: consumers with an earlier position fall back on their
        auto.offset.reset."""
        with self.changed:
            log = self._topics[topic][partition]
            log.start = min(max(log.start, before), log.end)

    def fail(self, call: str, error: int | KafkaError, times: int = 1) -> None:
        """Makes the next calls of a method fail, of any client: "commit", "init_transactions", "poll", ...

        "poll" and "consume" give the error as a message, as real clients do; all others raise it. "delivery" is for
        delivery reports: the record is not written, and its callback gets the error.
        """
        failure = error if isinstance(error, KafkaError) else KafkaError(error)
        self._failures[call].extend([failure] * times)

    def expel(self, consumer: "FakeConsumer") -> None:
        """Removes a member that did not poll within its max.poll.interval.ms: its partitions are lost."""
        with self.changed:
            consumer.expelled()

    # For the fake clients.

    def failure(self, call: str) -> KafkaError | None:
        armed = self._failures[call]
        return armed.pop(0) if armed else None

    def raise_failure(self, call: str) -> None:
        failure = self.failure(call)
        if failure is not None:
            raise KafkaException(failure)

    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def next_serial(self) -> int:
        return next(self._serial)

    def log(self, partition_key: PartitionKey) -> FakeLog | None:
        logs = self._topics.get(partition_key[0], [])
        return logs[partition_key[1]] if 0 <= partition_key[1] < len(logs) else None

    def logs_to_write(self, topic: str) -> Sequence[FakeLog] | None:
        """None: the topic does not exist and is not created."""
        if topic not in self._topics:
            if self._default_partitions == 0:
                return None
            self.create_topic(topic, self._default_partitions)
        return self._topics[topic]

    def group(self, name: str) -> FakeGroup:
        if name not in self._groups:
            self._groups[name] = FakeGroup(
                name, lambda: {topic: len(logs) for topic, logs in self._topics.items()}
            )
        return self._groups[name]

    def end_transaction(self, transaction: FakeTransaction, *, is_committed: bool) -> None:
        transaction.is_committed = is_committed
        for log in transaction.logs.values():
            log.end_transaction(transaction, self.now_ms())
        if is_committed:
            for group, offsets in transaction.offsets.items():
                self.group(group).commit(offsets)
        self.changed.notify_all()

    def cluster_metadata(self, topic: str | None) -> ClusterMetadata:
        """Does not create the topic asked for."""
        found = ClusterMetadata()
        found.cluster_id, found.controller_id = "fake", 0  # type: ignore[assignment]
        broker = BrokerMetadata()
        broker.id, broker.host, broker.port = 0, "fake", 9092  # type: ignore[assignment]
        found.brokers = {0: broker}
        names: Iterable[str] = self._topics if topic is None else [topic]
        found.topics = {name: self._topic_metadata(name) for name in names}
        return found

    def _topic_metadata(self, name: str) -> TopicMetadata:
        found = TopicMetadata()
        found.topic = name
        if name not in self._topics:
            found.error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
        for log in self._topics.get(name, []):
            part = PartitionMetadata()
            part.id, part.leader, part.replicas, part.isrs = log.partition, 0, [0], [0]
            found.partitions[log.partition] = part
        return found
