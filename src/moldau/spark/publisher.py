"""Writes a batch exactly once: all its records and its marker in one Kafka transaction. Runs in the driver.

The marker is the metadata of an offset that is committed to a group named after the query. A writer first takes over
the query's `transactional.id`, which aborts an open transaction of a dead driver and fences its producer. Then it reads
the marker and skips a batch that is committed. So a repeated batch may have other partitions or even other rows.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from operator import length_hint
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.spark.background import in_background
from moldau.pipeline.spark.clients import OFFSETS_S_MAX
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.clients import producer as producer_settings
from moldau.pipeline.spark.marker import Marker
from moldau.spark.options import SinkOptions
from moldau.spark.staging import Staged, StagedRowsLost
from moldau.spark.topics import admin_client, made

ANSWER_S_MAX: Final = 60.0
ATTEMPTS_MAX: Final = 5
PAUSE_S: Final = 1.0
QUEUED_RECORDS_MAX: Final = 500_000
QUEUED_KIB_MAX: Final = 128 << 10
FENCED: Final = (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED)
AWAY: Final = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)


class NotWritten(MoldauError):
    """A batch could not be written. Readers of committed records see nothing of it."""


def publish(sink: SinkOptions, name: str, batch_id: int, staged: list[Staged]) -> None:
    """Returns when every reader can see the batch, written now or before. `name` is the name of the query."""
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            publisher = _kept.take(sink, name)
            if batch_id < publisher.last_batch_id:
                raise NotWritten(_older_checkpoint(name, batch_id, publisher.last_batch_id))
            if batch_id > publisher.last_batch_id:
                publisher.write(batch_id, staged)
            return
        except KafkaException as failure:
            # The next publisher reads from the marker whether a commit without an answer succeeded.
            _kept.give_up()
            if attempt == ATTEMPTS_MAX or not _may_pass(failure.args[0]):
                raise NotWritten(
                    f"batch {batch_id} could not be written: {failure.args[0].str()}"
                ) from failure
            time.sleep(PAUSE_S)
        except BaseException:
            _kept.give_up()
            raise


def _may_pass(error: KafkaError) -> bool:
    """Whether the producer was fenced: by another process of this driver that wrote a batch in between, or by a second
    run of the query, which the marker keeps from repeating a batch."""
    return error.retriable() or error.txn_requires_abort() or error.code() in FENCED + AWAY


def _older_checkpoint(name: str, batch_id: int, last_batch_id: int) -> str:
    return (
        f"batch {batch_id} of {name} was asked for, but batch {last_batch_id} is written: the checkpoint is older than "
        "the output, a copy restored or a part of it deleted. To write these batches again, start with a new checkpoint"
    )


_stuck: "list[Publisher]" = []
"""Producers with a call that does not return. They are kept, because closing one would wait for the call."""


class Publisher:
    """The publisher of one query. If another process writes for the query, the brokers reject its next commit."""

    def __init__(self, sink: SinkOptions, name: str) -> None:
        self._servers, self._kafka = sink.bootstrap_servers, sink.kafka
        self._topic = sink.topic
        self._is_stuck = False
        self._known_topics: set[str | None] = set()
        wanted = {
            **producer_settings(self._servers, {}, name),
            "queue.buffering.max.messages": str(QUEUED_RECORDS_MAX),
            "queue.buffering.max.kbytes": str(QUEUED_KIB_MAX),
            **self._kafka,
            "transactional.id": name,
            "enable.idempotence": "true",
        }
        self._producer = made(Producer, wanted)
        self._group = Consumer(
            {**consumer_settings(self._servers, {}, name), **self._kafka, "group.id": name}
        )
        self._producer.init_transactions(ANSWER_S_MAX)
        # After that, a commit of a dead driver has either succeeded or failed.
        self.last_batch_id = self._marked(name)

    def write(self, batch_id: int, staged: Iterable[Staged]) -> None:
        self._producer.begin_transaction()
        marked_topic: str | None = None
        for message in staged:
            rows = 0
            for batch in message.batches():
                rows += batch.num_rows
                if batch.num_rows:
                    self._produce(batch)
                    marked_topic = marked_topic or self._topic or batch.column("topic")[0].as_py()
            if rows != message.rows:
                raise StagedRowsLost(f"{message.folder}/{message.name} holds {rows} rows of {message.rows}")
        if marked_topic is None:
            # Nothing to write, and nothing that could be written twice.
            self._producer.abort_transaction(ANSWER_S_MAX)
        else:
            self._commit(marked_topic, batch_id)
        self.last_batch_id = batch_id

    def close(self) -> None:
        """If the brokers do not answer, an open transaction is left to the next publisher or to its timeout."""
        if self._is_stuck:
            _stuck.append(self)
            return
        self._producer.purge()
        try:
            self._producer.abort_transaction(5.0)
        except KafkaException:
            return
        finally:
            self._group.close()

    def _commit(self, topic: str, batch_id: int) -> None:
        """Fails if a record was not written. Needs no callback per record, which would cost as much as the record."""
        place = TopicPartition(topic, 0, batch_id, metadata=str(Marker("spark", batch_id)))
        group = self._group.consumer_group_metadata()
        try:
            in_background(
                lambda: self._producer.send_offsets_to_transaction([place], group, OFFSETS_S_MAX),
                "send-offsets",
            ).result(OFFSETS_S_MAX)
        except TimeoutError:
            self._is_stuck = True
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None
        self._producer.commit_transaction(ANSWER_S_MAX)

    def _marked(self, name: str) -> int:
        """-1 if no batch was written."""
        admin = admin_client(self._servers, self._kafka)
        asked = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(name)], require_stable=True, request_timeout=ANSWER_S_MAX
        )
        found = asked[name].result(ANSWER_S_MAX).topic_partitions
        markers = (Marker.parse(one.metadata) for one in found)
        return max((marker.batch_id for marker in markers if marker is not None), default=-1)

    def _produce(self, batch: pa.RecordBatch) -> None:
        """Waits while the client's queue is full."""
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        self._require(set(columns.get("topic", ())) or {self._topic})
        done = 0
        while done < batch.num_rows:
            values = iter(columns["value"][done:])
            try:
                # Without a line of Python per record, which would be most of the cost of writing.
                deque(map(self._producer.produce, *_arguments(columns, values, self._topic, done)), maxlen=0)
                break
            except BufferError:
                # The rejected record was consumed from `values`, too.
                done = batch.num_rows - length_hint(values) - 1
                self._producer.poll(0.1)
        self._producer.poll(0)

    def _require(self, topics: set[str | None]) -> None:
        """Asking for metadata creates the topic if the brokers create topics automatically. Otherwise a missing topic
        is reported at once."""
        for topic in topics - self._known_topics - {None}:
            deadline = time.monotonic() + ANSWER_S_MAX
            while True:
                error = self._producer.list_topics(topic, timeout=ANSWER_S_MAX).topics[topic].error
                if error is None:
                    break
                if error.code() == KafkaError.LEADER_NOT_AVAILABLE and time.monotonic() < deadline:
                    self._producer.poll(0.1)
                    continue
                raise ConfigError(f"topic {topic} cannot be written ({error.str()}): create it first")
            self._known_topics.add(topic)


def _arguments(
    columns: Mapping[str, list[Any]], values: Iterator[bytes | None], topic: str | None, start: int
) -> list[Iterable[Any]]:
    """The positional arguments of `produce` for the records from `start` on."""

    def column(name: str, otherwise: object) -> Iterable[Any]:
        return columns[name][start:] if name in columns else repeat(otherwise)

    arguments = [column("topic", topic), values, column("key", None)]
    if columns.keys() & {"partition", "timestamp_ms", "headers"}:
        arguments += [column("partition", -1), repeat(None), repeat(None), column("timestamp_ms", 0)]
    if "headers" in columns:
        arguments.append(
            [[(one["key"], one["value"]) for one in headers or ()] for headers in columns["headers"][start:]]
        )
    return arguments


class _KeptPublisher:
    """The publisher of this process, which Spark may use for the next batch, too."""

    publisher: Publisher | None = None
    made_for: tuple[SinkOptions, str] | None = None

    def take(self, sink: SinkOptions, name: str) -> Publisher:
        if self.publisher is None or self.made_for != (sink, name):
            self.give_up()
            self.publisher, self.made_for = Publisher(sink, name), (sink, name)
        return self.publisher

    def give_up(self) -> None:
        if self.publisher is not None:
            self.publisher.close()
        self.publisher = None


_kept = _KeptPublisher()
