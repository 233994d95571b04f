"""Runs a source's task: polls, converts, and writes records with their offsets in one transaction (KIP-618).

Polls that follow each other at once share a transaction, up to GROUP_RECORDS_MAX records or GROUP_MS: its end takes as
long as thousands of records. A source that catches up, so that many come in this time, has longer ones.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from confluent_kafka.admin import AdminClient

from moldau.pipeline.connect.api import Offset, RetriableError, SourceConnector, SourceTask
from moldau.pipeline.connect.data.records import SourceBytes, SourceParts, SourceRecord, SourceTexts
from moldau.pipeline.connect.runtime.failed_records import FailedRecords
from moldau.pipeline.connect.runtime.record_chain import RecordChain, Waiting
from moldau.pipeline.connect.runtime.record_failures import Failure, Stage
from moldau.pipeline.connect.runtime.retries import patient
from moldau.pipeline.connect.runtime.source_chain import ProducerRecord, SourceChain, unchanged
from moldau.pipeline.connect.runtime.source_offsets import SourceOffsets, ensure_offsets_topic, read_offsets
from moldau.pipeline.connect.runtime.task_settings import SourceSettings
from moldau.pipeline.connect.runtime.topic_creation import TopicRules
from moldau.pipeline.spark.clients import TRANSACTION_TIMEOUT_MS
from moldau.pipeline.spark.connectors.task_orders import RunState
from moldau.pipeline.spark.connectors.worker.progress import Progress
from moldau.pipeline.spark.connectors.worker.task_parts import TaskParts
from moldau.pipeline.spark.connectors.worker.topics import Topics
from moldau.pipeline.spark.connectors.worker.transaction_writer import (
    NotWritten,
    RecordsRefused,
    TransactionWriter,
)

GROUP_RECORDS_MAX: Final = 200_000
GROUP_MS: Final = 200
BULK_RECORDS_MIN: Final = 20_000
BULK_MS: Final = 600
"""A transaction that has so many records may last so long."""
INTERVAL_RECORDS_MAX: Final = 200_000
"""A transaction that is to last longer ends when it has so many: they are kept until then."""
SILENT_S_MAX: Final = TRANSACTION_TIMEOUT_MS / 1000 + 30.0
"""Longer than the transaction of a killed task stays open, which may be in the same partition of the offsets."""
REST_MS_MIN: Final = 1
WAITING_POLL_S: Final = 0.05

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Transaction:
    """What is in the open one. Kept, because it is written again without the records that the broker refuses."""

    began: float
    whole: list[SourceTexts | SourceBytes] = field(default_factory=list)
    """Written as they are, before `records`."""
    records: list[ProducerRecord] = field(default_factory=list)
    sources: list[Sequence[SourceRecord]] = field(default_factory=list)
    """What `records` were made of, one after the other."""
    letters: list[ProducerRecord] = field(default_factory=list)
    offsets: dict[bytes, tuple[Mapping[str, Any], Offset | None]] = field(default_factory=dict)
    """By the partition of the source, as JSON."""
    polled: int = 0
    failed: int = 0


class _Context:
    """What the task may ask."""

    def __init__(self, offsets: SourceOffsets, progress: Progress) -> None:
        self._offsets, self._progress = offsets, progress

    def offset(self, source_partition: Mapping[str, Any]) -> Offset | None:
        return self._offsets.of(source_partition)

    def stopping(self) -> bool:
        return self._progress.is_stopping()


class SourceRun:
    def __init__(self, parts: TaskParts, progress: Progress) -> None:
        """Raises ConfigError for wrong settings."""
        assert isinstance(parts.settings, SourceSettings)
        assert issubclass(parts.kind, SourceConnector)
        self._parts, self._progress, self._settings = parts, progress, parts.settings
        self._task: SourceTask = parts.kind.task_class()
        waiting = Waiting(lambda: int(time.monotonic() * 1000), progress.pause_ms)
        chain = RecordChain(parts.config, waiting)
        self._chain = SourceChain(chain)
        self._chain_settings = chain.settings
        self._failed = FailedRecords(
            chain.settings, parts.settings, parts.plan.name, parts.number, parts.resolved.mask
        )
        self._topics = Topics(parts.admin(), TopicRules.of(parts.config))
        self._offsets_topic = parts.settings.offsets_topic or parts.plan.offsets_topic
        is_interval = parts.settings.boundary.lower() == "interval"
        self._group_ms = parts.settings.boundary_interval_ms if is_interval else GROUP_MS
        self._transaction_ms = TRANSACTION_TIMEOUT_MS + (self._group_ms if is_interval else 0)
        self._records_max = INTERVAL_RECORDS_MAX if is_interval else GROUP_RECORDS_MAX
        self._is_interval = is_interval
        self._writer: TransactionWriter | None = None
        self._open: _Transaction | None = None
        self._polls_wait = False
        """The task waits for records in `poll`: those of the last poll must not wait with it."""

    def run(self) -> None:
        parts, progress = self._parts, self._progress
        with progress.waiting_for("the coordinator of its transactions"):
            writer = self._writer = TransactionWriter(
                {**parts.transactional(), "transaction.timeout.ms": str(self._transaction_ms)}
            )
        try:
            progress.require_own()
            ensure_offsets_topic(AdminClient(parts.admin()), self._offsets_topic)
            with progress.waiting_for(f"open transactions in {self._offsets_topic}"):
                self._offsets = read_offsets(
                    parts.admin(),
                    self._offsets_topic,
                    parts.plan.name,
                    silent_s_max=SILENT_S_MAX,
                    stopping=progress.is_stopping,
                )
            with progress.calling("start"):
                self._task.start(parts.task_config, _Context(self._offsets, progress))
            progress.enter(RunState.RUNNING)
            while not progress.is_stopping():
                self._round()
            if self._open is not None:
                self._commit(self._open)
        finally:
            writer = self._writer
            if self._open is not None:
                writer.abandon()
            self._end_task()

    def abandon(self) -> None:
        """The next run fences this one's writer."""

    def _end_task(self) -> None:
        """A failure here hides no other."""
        try:
            self._task.stop()
        except Exception:
            log.exception("%s: the task could not be stopped", self._parts.id)

    def _round(self) -> None:
        records = self._polled()
        if records:
            self._take(records)
        opened = self._open
        if opened is not None and self._is_full(opened, bool(records)):
            self._commit(opened)
        if not records:
            rest_ms = self._task.next_poll_ms()
            if self._open is not None:
                rest_ms = min(rest_ms, int(self._left_ms(self._open)) + 1)
            self._progress.pause_ms(max(REST_MS_MIN, rest_ms))

    def _left_ms(self, opened: _Transaction) -> float:
        is_bulk = opened.polled >= BULK_RECORDS_MIN and not self._is_interval
        group_ms = BULK_MS if is_bulk else self._group_ms
        return group_ms - (time.monotonic() - opened.began) * 1000

    def _is_full(self, opened: _Transaction, has_more: bool) -> bool:
        if not self._is_interval and (self._polls_wait or not has_more):
            return True
        return opened.polled >= self._records_max or self._left_ms(opened) <= 0

    def _polled(self) -> Sequence[SourceRecord]:
        progress, attempts = self._progress, None
        while True:
            began = time.monotonic()
            try:
                with progress.calling("poll"):
                    records = self._task.poll()
            except RetriableError as failure:
                attempts = attempts or patient(self._chain_settings)
                delay_ms = attempts.next_delay_ms(int(time.monotonic() * 1000))
                if delay_ms is None:
                    raise
                progress.wait_for(f"poll: {self._parts.resolved.mask(str(failure))}")
                if self._open is not None:
                    self._commit(self._open)
                if not progress.pause_ms(delay_ms):
                    return ()
            else:
                self._note_wait(None if records else self._task.waits_for())
                if not records:
                    self._polls_wait = time.monotonic() - began > WAITING_POLL_S
                return records

    def _note_wait(self, why: str | None) -> None:
        if why:
            self._progress.wait_for(self._parts.resolved.mask(why))
        else:
            self._progress.go_on()

    def _take(self, records: Sequence[SourceRecord]) -> None:
        """Writes the records of a poll into the open transaction."""
        assert self._writer is not None
        opened = self._open
        if opened is None:
            self._writer.begin()
            opened = self._open = _Transaction(time.monotonic())
        opened.polled += len(records)
        self._progress.polled += len(records)
        for part in records.parts if isinstance(records, SourceParts) else (records,):
            self._take_part(opened, part)

    def _take_part(self, opened: _Transaction, records: Sequence[SourceRecord]) -> None:
        assert self._writer is not None
        if not opened.records and self._chain.takes_whole(records):
            self._topics.ensure(records.topic)
            opened.whole.append(records)
            self._note_offset(opened, records.source_partition, records.source_offset)
            with self._progress.calling("produce"):
                self._writer.write_whole(records)
            return
        with self._progress.calling("conversion of records"):
            output = self._chain.output(records)
        for record, failure in output.failed:
            self._give_up(opened, record, failure)
        for topic in {one.topic for one in output.records}:
            self._topics.ensure(topic)
        with self._progress.calling("produce"):
            self._writer.write(output.records)
        opened.records += output.records
        opened.sources.append(output.sources)
        if isinstance(records, SourceTexts | SourceBytes):
            self._note_offset(opened, records.source_partition, records.source_offset)
            return
        for record in records:
            self._note_offset(opened, record.source_partition, record.source_offset)

    def _give_up(self, opened: _Transaction, record: SourceRecord, failure: Failure) -> None:
        """Raises RecordFailed when failures are not tolerated."""
        letter = self._failed.judge_source(record, failure)
        opened.failed += 1
        if letter is not None:
            opened.letters.append(letter)

    def _note_offset(
        self, opened: _Transaction, partition: Mapping[str, Any] | None, offset: Offset | None
    ) -> None:
        if partition is not None:
            key = orjson.dumps(partition, option=orjson.OPT_SORT_KEYS)
            opened.offsets[key] = partition, offset

    def _commit(self, opened: _Transaction) -> None:
        progress = self._progress
        assert self._writer is not None
        while True:
            with progress.calling("commit"):
                self._write_rest(opened)
                progress.require_own()
                try:
                    self._writer.commit()
                    break
                except RecordsRefused as refused:
                    why = refused
            self._leave_out_refused(opened, why)
        self._open = None
        for partition, offset in opened.offsets.values():
            self._offsets.take(*self._offsets.record(partition, offset))
        progress.written += len(opened.records) + sum(map(len, opened.whole))
        progress.use({one.topic for one in opened.records} | {one.topic for one in opened.whole})
        progress.failed += opened.failed
        with progress.calling("committed"):
            self._task.committed()

    def _write_rest(self, opened: _Transaction) -> None:
        assert self._writer is not None
        if opened.letters:
            self._topics.ensure_dead_letters(self._failed.topic, self._failed.replicas)
            self._writer.write(opened.letters)
        changes = [self._offsets.record(*change) for change in opened.offsets.values()]
        self._writer.write([ProducerRecord(self._offsets_topic, value, key) for key, value in changes])

    def _leave_out_refused(self, opened: _Transaction, why: RecordsRefused) -> None:
        """Begins the transaction again without the records that the broker does not accept."""
        assert self._writer is not None
        self._writer = self._writer.again()
        first = [record for one in opened.whole for record in unchanged(one)]
        opened.records = first + opened.records
        sources = list(SourceParts([*opened.whole, *opened.sources]))
        opened.whole.clear()
        refused = self._writer.refused(opened.records)
        if not refused:
            raise NotWritten(str(why))
        for index, reason in refused.items():
            failure = Failure(Stage.PRODUCE, "the producer", RecordsRefused(reason))
            self._give_up(opened, sources[index], failure)
        kept = [index for index in range(len(opened.records)) if index not in refused]
        opened.records = [opened.records[index] for index in kept]
        opened.sources = [[sources[index] for index in kept]]
        self._writer.begin()
        self._writer.write(opened.records)
