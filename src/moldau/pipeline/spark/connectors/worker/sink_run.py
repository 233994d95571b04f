"""Runs a sink's task: reads, converts, puts; flushes and commits every few seconds.

Only what `flush` says is in the target is committed. Partitions come and go with the group: what they have delivered
is flushed before they go.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from confluent_kafka import Message

from moldau.pipeline.connect.api import RetriableError, SinkConnector, SinkTask, TopicPartition
from moldau.pipeline.connect.data.records import SinkRecord, SinkTexts
from moldau.pipeline.connect.runtime.failed_records import FailedRecords
from moldau.pipeline.connect.runtime.record_chain import RecordChain, Waiting
from moldau.pipeline.connect.runtime.record_failures import Failure, Origin, Stage, class_name
from moldau.pipeline.connect.runtime.retries import Attempts, patient
from moldau.pipeline.connect.runtime.sink_chain import SinkChain
from moldau.pipeline.connect.runtime.task_settings import SinkSettings
from moldau.pipeline.spark.connectors.task_orders import RunState
from moldau.pipeline.spark.connectors.worker.dead_letter_writer import DeadLetterWriter
from moldau.pipeline.spark.connectors.worker.message_index import MessageIndex
from moldau.pipeline.spark.connectors.worker.progress import Progress
from moldau.pipeline.spark.connectors.worker.sink_consumer import Partitions, SinkConsumer
from moldau.pipeline.spark.connectors.worker.task_parts import TaskParts
from moldau.pipeline.spark.connectors.worker.topics import Topics

READ_S: Final = 0.2
RECORDS_MAX: Final = 5_000
"""In one `put`, unless `consumer.override.max.poll.records` says otherwise."""
LOOK_AT_LAG_S: Final = 1.0

log = logging.getLogger(__name__)


class SinkRun:
    def __init__(self, parts: TaskParts, progress: Progress) -> None:
        """Raises ConfigError for wrong settings."""
        assert isinstance(parts.settings, SinkSettings)
        assert issubclass(parts.kind, SinkConnector)
        self._parts, self._progress = parts, progress
        self._task: SinkTask = parts.kind.task_class()
        waiting = Waiting(lambda: int(time.monotonic() * 1000), progress.pause_ms)
        self._records = RecordChain(parts.config, waiting)
        self._chain = SinkChain(self._records)
        self._failed = FailedRecords(
            self._records.settings, parts.settings, parts.plan.name, parts.number, parts.resolved.mask
        )
        topics = Topics(parts.admin())
        self._letters = DeadLetterWriter(parts.producer(), topics, parts.settings.dead_letter_replicas)
        self._count_max = int(parts.config.get("consumer.override.max.poll.records", RECORDS_MAX))
        self._consumer = SinkConsumer(
            parts.consumer(),
            parts.settings,
            topics,
            opened=self._opened,
            closing=self._closing,
            lost=self._gone,
        )
        self._messages = MessageIndex()
        """Those that are being processed."""
        self._rewound: dict[TopicPartition, int] = {}
        self._refusal: Exception | None = None
        """A reported record that fails the task."""
        self._dropped: set[TopicPartition] = set()
        """Partitions that went while a `put` is made again."""
        self._flush_at = self._look_at = 0.0

    # What the task may ask

    def report(self, record: SinkRecord, error: Exception) -> None:
        failure = Failure(Stage.PUT, class_name(self._task), error)
        message = self._messages.of(record)
        try:
            if message is not None:
                self._give_up(message, failure)
            else:
                self._give_up_converted(record, failure)
        except Exception as refusal:
            self._refusal = refusal
            raise

    def rewind(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._rewound.update({TopicPartition(*place): offset for place, offset in offsets.items()})

    # The run

    def run(self) -> None:
        progress = self._progress
        try:
            with progress.calling("start"):
                self._task.start(self._parts.task_config, self)
            progress.enter(RunState.RUNNING)
            self._flush_at = time.monotonic() + self._parts.plan.flush_ms / 1000
            while not progress.is_stopping():
                self._round()
            progress.require_own()
            self._flush()
            with progress.calling("closed"):
                self._task.closed(sorted(self._consumer.assigned))
        finally:
            self._end_task()
            if not self._consumer.is_closed:
                self._consumer.close()

    def abandon(self) -> None:
        """Leaves the group, so that the partitions go to the next run."""
        self._consumer.close()

    def _end_task(self) -> None:
        """A failure here hides no other."""
        try:
            self._task.stop()
        except Exception:
            log.exception("%s: the task could not be stopped", self._parts.id)

    def _round(self) -> None:
        now = time.monotonic()
        parts = self._consumer.read(self._count_max, max(0.0, min(READ_S, self._flush_at - now)))
        for place in self._seek_back():
            # They come again, from where the task wants them.
            parts.pop(place, None)
        if parts:
            self._process(parts)
        now = time.monotonic()
        if now >= self._flush_at:
            self._flush()
            self._flush_at = time.monotonic() + self._parts.plan.flush_ms / 1000
        if now >= self._look_at:
            self._progress.lag = self._consumer.lag()
            self._look_at = now + LOOK_AT_LAG_S

    def _process(self, parts: Mapping[TopicPartition, Sequence[Message]]) -> None:
        progress = self._progress
        self._messages = MessageIndex(list(parts.values()))
        progress.polled += sum(map(len, parts.values()))
        progress.use({place.topic for place in parts})
        with progress.calling("conversion of records"):
            output = self._chain.output(list(parts.values()))
        for message, failure in output.failed:
            self._give_up(message, failure)
        self._dropped.clear()
        for batch in output.batches:
            self._put(batch)
        self._messages = MessageIndex()
        self._seek_back()

    def _put(self, batch: Sequence[SinkRecord]) -> None:
        batch = self._still_ours(batch)
        attempts: Attempts | None = None
        while batch:
            try:
                with self._progress.calling("put"):
                    self._task.put(batch)
            except RetriableError as failure:
                attempts = attempts or patient(self._records.settings)
                self._wait_for_retry(attempts, failure, "put")
                batch = self._still_ours(batch)
            else:
                self._progress.written += len(batch)
                break
        self._progress.go_on()
        self._require_tolerated()

    def _wait_for_retry(self, attempts: Attempts, failure: RetriableError, what: str) -> None:
        """Raises the failure when there is no further attempt."""
        delay_ms = attempts.next_delay_ms(int(time.monotonic() * 1000))
        if delay_ms is None:
            raise failure
        self._progress.wait_for(f"{what}: {self._parts.resolved.mask(str(failure))}")
        end = time.monotonic() + delay_ms / 1000
        while time.monotonic() < end:
            if self._progress.is_stopping():
                raise failure
            self._consumer.wait_paused(min(READ_S, max(0.0, end - time.monotonic())))

    def _still_ours(self, batch: Sequence[SinkRecord]) -> Sequence[SinkRecord]:
        """Without the partitions that went in the meantime."""
        gone = self._dropped
        if not gone:
            return batch
        if isinstance(batch, SinkTexts):
            return () if TopicPartition(batch.topic, batch.partition) in gone else batch
        return [
            one for one in batch if TopicPartition(one.original_topic, one.original_partition) not in gone
        ]

    def _flush(self) -> None:
        """Asks the task to make everything durable, and commits what it says."""
        consumer, attempts = self._consumer, None
        while True:
            ends = {place: end for place, end in consumer.ends.items() if place in consumer.assigned}
            try:
                with self._progress.calling("flush"):
                    durable = self._task.flush(ends)
                break
            except RetriableError as failure:
                attempts = attempts or patient(self._records.settings)
                self._wait_for_retry(attempts, failure, "flush")
        self._require_tolerated()
        self._commit(ends, durable)
        self._seek_back()

    def _commit(
        self, ends: Mapping[TopicPartition, int], durable: Mapping[TopicPartition, int] | None
    ) -> None:
        self._letters.flush()
        if durable is not None:
            ends = {
                TopicPartition(*place): min(end, ends.get(TopicPartition(*place), end))
                for place, end in durable.items()
            }
        self._progress.require_own()
        with self._progress.calling("commit of offsets"):
            why = self._consumer.commit(ends)
        self._progress.go_on()
        self._progress.retrying = why

    def _seek_back(self) -> Mapping[TopicPartition, int]:
        rewound, self._rewound = self._rewound, {}
        if rewound:
            self._consumer.seek(rewound)
        return rewound

    # When partitions come and go

    def _opened(self, partitions: Partitions) -> Mapping[TopicPartition, int]:
        with self._progress.calling("opened"):
            return {TopicPartition(*one): at for one, at in self._task.opened(partitions).items()}

    def _closing(self, partitions: Partitions) -> None:
        """What was put of them is flushed and committed, unless the task is in the middle of a failed call."""
        self._progress.require_own()
        try:
            if not self._progress.retrying and not self._messages:
                ends = dict(self._consumer.ends)
                with self._progress.calling("flush"):
                    durable = self._task.flush(ends)
                self._commit(ends, durable)
        except RetriableError as failure:
            log.warning("%s: partitions go before they are flushed: %s", self._parts.id, failure)
        finally:
            self._gone(partitions)

    def _gone(self, partitions: Partitions) -> None:
        self._dropped.update(partitions)
        with self._progress.calling("closed"):
            self._task.closed(partitions)

    # Records that fail

    def _give_up(self, message: Message, failure: Failure) -> None:
        """Raises RecordFailed when failures are not tolerated."""
        origin = Origin(cast(str, message.topic()), str(message.partition()), str(message.offset()))
        headers = cast(list[tuple[str, bytes | None]], message.headers() or [])
        letter = self._failed.judge(failure, origin, message.key(), message.value(), headers)
        self._progress.failed += 1
        if letter is not None:
            self._letters.write(letter)

    def _give_up_converted(self, record: SinkRecord, failure: Failure) -> None:
        """The task reports it later: its bytes are made again."""
        chain, topic = self._records, record.original_topic or record.topic
        origin = Origin(topic, str(record.original_partition), str(record.offset))
        key: Callable[..., bytes | None] = chain.key.from_connect
        value: Callable[..., bytes | None] = chain.value.from_connect
        letter = self._failed.judge(
            failure,
            origin,
            key(topic, record.key_schema, record.key),
            value(topic, record.value_schema, record.value),
        )
        self._progress.failed += 1
        if letter is not None:
            self._letters.write(letter)

    def _require_tolerated(self) -> None:
        if self._refusal is not None:
            raise self._refusal
