"""Runs one function of DataFrames over the batches of an application, and publishes its results exactly once.

All records of a batch, dead letters included, are written by the driver in one transaction, together with the offsets
that were read and the batch's marker. A batch whose marker is committed is skipped, so the function may be
non-deterministic. The plan of the batch says what it reads, however often it is run.
"""

import contextlib
import itertools
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from confluent_kafka import Consumer, KafkaException
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.operators.records import SKIPPED, DeadRecord, OutputRecord
from moldau.pipeline.plan.handlers import ErrorContext, ErrorHandlers, Handler, choose
from moldau.pipeline.plan.topology import SubTopology, Topology
from moldau.pipeline.spark.background import in_background
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.driver.batch_plan import transform_id
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.orders import Application, SlotReport, TaskId
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.positions import OffsetRange
from moldau.pipeline.spark.transforms.frame import Reading, faults_of, frame_of
from moldau.pipeline.spark.transforms.incoming import RowDecodingError
from moldau.pipeline.spark.transforms.job import TransformFailed, TransformJob
from moldau.pipeline.spark.transforms.time_limit import DoesNotReturn, within
from moldau.pipeline.spark.worker.dead_letters import dead_letter
from moldau.pipeline.spark.worker.repartition_headers import stamped
from moldau.pipeline.spark.worker.sink import RecordsRefused, Refused, Sink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_serial = itertools.count()
CLOSE_S_MAX: Final = 10.0
DECODING_FAILED: Final = f"{RowDecodingError.__name__}: "


class ChosenToFail(MoldauError):
    """An error handler of the topology chose to fail: a retry would end the same way."""


class TransformRunner:
    def __init__(
        self, session: "SparkSession", topology: Topology, part: SubTopology, application: Application
    ) -> None:
        self._job = TransformJob(session, part)
        self._application = application
        self._internal = topology.internal_topics
        self._part = part.index
        self._topic_in = part.source_topics[0]
        choice = "dead_letter" if application.dead_letter_topic else "fail"
        self._given_handlers = topology.error_handlers
        self._handlers = (topology.error_handlers or ErrorHandlers()).with_default(choice)  # type: ignore[arg-type]
        self._sink: Sink | None = None
        self._consumer: Consumer | None = None
        self._is_closed = False
        self._running: Future[SlotReport] | None = None
        self._tag = f"moldau-transform-{next(_serial)}"

    def submit(self, plan: Plan) -> "Future[SlotReport] | None":
        """None when the batch holds nothing for it. A failure is in the report."""
        ranges = [one for one in plan.ranges() if one.topic == self._topic_in]
        if not any(one.end_offset > one.start_offset for one in ranges):
            return None
        self._running = in_background(lambda: self._report(ranges, plan), f"transform-{self._job.node.name}")
        return self._running

    def close(self) -> None:
        """What still runs is cancelled, and will not be published. If it does not end, the next run of the batch
        takes over its `transactional.id`."""
        self._is_closed = True
        if self._running is not None and not self._running.done():
            with contextlib.suppress(PySparkException, Py4JError, OSError):
                self._cancel()
            if wait([self._running], CLOSE_S_MAX).not_done:
                return
        if self._sink is not None:
            self._sink.abandon()
        if self._consumer is not None:
            self._consumer.close()

    def _report(self, ranges: Sequence[OffsetRange], plan: Plan) -> SlotReport:
        report = SlotReport(slot=-1 - self._part)
        began = time.perf_counter()
        try:
            self._run(ranges, plan, report)
        except (ConfigError, ChosenToFail) as failure:
            report.error, report.is_final = str(failure), True
        except TransformFailed as failure:
            report.error, report.is_final = str(failure), self._fails_by_choice(failure)
        except KafkaException as failure:
            report.error = f"{self._where}: KafkaException: {failure.args[0].str()}"
        except Exception as failure:  # noqa: BLE001  reported to the run, which decides
            report.error = f"{self._where}: {type(failure).__name__}: {failure}"
        report.transform_ms = {self._job.node.name: (time.perf_counter() - began) * 1000}
        return report

    def _run(self, ranges: Sequence[OffsetRange], plan: Plan, report: SlotReport) -> None:
        if self._sink is None:
            self._take_over()
            if self._is_done(ranges, plan.batch_id):
                report.tasks_skipped = 1
                return
        reading = Reading.of(self._job.layout, ranges, self._application)
        dead: list[DeadRecord] = []
        try:
            records = self._computed(reading)
        except TransformFailed as failure:
            if DECODING_FAILED not in str(failure):
                raise
            faults = faults_of(self._job.session, reading)
            if not faults:
                raise
            dead = [fault for fault in faults if self._is_dead(self._handlers.deserialization, fault, report)]
            reading = replace(reading, skipped=frozenset((fault.partition, fault.offset) for fault in faults))
            records = self._computed(reading)
        self._publish(records, dead, ranges, plan, report)

    def _take_over(self) -> None:
        """Aborts the open transaction of an earlier driver, and fences it."""
        application = self._application
        servers, settings = application.bootstrap_servers, application.client_settings
        self._consumer = Consumer(consumer_settings(servers, settings, application.application_id))
        self._sink = Sink(
            servers,
            settings,
            self._consumer,
            transform_id(self._topic_in),
            transactional=application.exactly_once,
            partitioners=application.partitioners,
        )

    def _is_done(self, ranges: Sequence[OffsetRange], batch_id: int) -> bool:
        assert self._sink is not None
        markers = self._sink.markers(ranges).values()
        return any(
            marker and marker.checkpoint_id == self._application.checkpoint_id and marker.batch_id >= batch_id
            for marker in markers
        )

    def _computed(self, reading: Reading) -> list[OutputRecord]:
        """Within the application's time limit."""
        session = self._job.session

        def compute() -> list[OutputRecord]:
            session.addTag(self._tag)
            return self._job.run(frame_of(session, reading))

        try:
            return within(self._application.record_ms_max, compute)
        except DoesNotReturn:
            self._cancel()
            raise self._job.too_slow(self._application.record_ms_max) from None

    def _publish(
        self,
        records: list[OutputRecord],
        dead: list[DeadRecord],
        ranges: Sequence[OffsetRange],
        plan: Plan,
        report: SlotReport,
    ) -> None:
        """What the broker refuses is left out, and becomes a dead letter."""
        refused: dict[Refused, str] = {}
        while not self._is_closed:
            assert self._sink is not None
            kept = [
                one for one in records if (one.topic, one.key, one.value, one.timestamp_ms) not in refused
            ]
            try:
                self._write(kept, dead, ranges, plan)
            except RecordsRefused as failure:
                self._sink.abandon()
                self._sink = self._sink.another()
                suspects = [one for one in self._stamped(kept) if one.topic in failure.topics]
                found = self._sink.find_refused(suspects)
                if found.keys() <= refused.keys():
                    raise
                refused |= found
                fates = [_refused_record(one, reason) for one, reason in found.items()]
                dead = dead + [one for one in fates if self._is_dead(self._handlers.production, one, report)]
                continue
            report.records_out, report.records_dead = len(kept), len(dead)
            return
        raise TransformFailed(f"{self._where} was stopped within a batch")

    def _write(
        self, records: list[OutputRecord], dead: list[DeadRecord], ranges: Sequence[OffsetRange], plan: Plan
    ) -> None:
        assert self._sink is not None
        topic = self._application.dead_letter_topic or ""
        self._sink.begin()
        self._sink.write(self._stamped(records))
        self._sink.write([dead_letter(topic, one, plan.clock_ms) for one in dead])
        self._sink.commit(ranges, Marker(self._application.checkpoint_id, plan.batch_id))

    def _stamped(self, records: list[OutputRecord]) -> list[OutputRecord]:
        """As the output of one writer: the records are in order already."""
        return stamped(records, self._internal, TaskId(self._part, 0))

    def _is_dead(self, handler: Handler | None, one: DeadRecord, report: SlotReport) -> bool:
        """Asks the error handler whether the record becomes a dead letter."""
        name = self._job.node.name
        context = ErrorContext(
            name, one.topic, one.partition, one.offset, one.timestamp_ms, one.key, one.value, one.headers
        )
        choice = choose(handler, context, MoldauError(one.reason))
        if choice == "fail":
            told = f"{self._where} failed: the record at {one.topic}-{one.partition} offset {one.offset}: {one.reason}"
            raise ChosenToFail(told) if self._given_handlers else TransformFailed(told)
        if choice == "skip":
            count, late_ms = report.dropped.get((name, SKIPPED), (0, 0))
            report.dropped[name, SKIPPED] = (count + 1, late_ms)
        return choice == "dead_letter"

    def _fails_by_choice(self, failure: Exception) -> bool:
        """The function fails for a whole batch: `fail` is the only choice that can be made for one."""
        if self._given_handlers is None or self._given_handlers.processing is None:
            return False
        context = ErrorContext(self._job.node.name, self._topic_in, -1, -1, -1)
        return choose(self._given_handlers.processing, context, failure) == "fail"

    def _cancel(self) -> None:
        self._job.session.interruptTag(self._tag)

    @property
    def _where(self) -> str:
        return f"{self._job.node.where}: transform {self._job.node.name}"


def _refused_record(refused: Refused, reason: str) -> DeadRecord:
    """An output record. The input records that it was made from are not known."""
    topic, key, value, timestamp_ms = refused
    trace = "".join(traceback.format_stack(limit=1))
    return DeadRecord(topic, -1, -1, timestamp_ms, key, value, (), f"RecordRefused: {reason}", trace)
