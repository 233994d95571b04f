"""A slot: the tasks of an application that one worker process runs, one after the other, in one transaction a batch.

It corresponds to a stream thread of Kafka Streams. A worker keeps it from batch to batch, with its clients and the
state of its tasks. Another worker can build it again from the checkpoint and the topics.
"""

import pickle
import time
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import Consumer

from moldau.pipeline.operators.records import Columns, OutputRecord, Outputs
from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.orders import Application, SlotOrder, SlotReport, TaskId, TaskOrder
from moldau.pipeline.spark.worker.changelog import changelog_records
from moldau.pipeline.spark.worker.dead_letters import dead_letter
from moldau.pipeline.spark.worker.global_tables import GlobalTables
from moldau.pipeline.spark.worker.hosted_task import HostedTask
from moldau.pipeline.spark.worker.range_reader import RangeReader
from moldau.pipeline.spark.worker.repartition_headers import by_writer, in_own_partition, stamped
from moldau.pipeline.spark.worker.sink import RecordsRefused, Refused, Sink
from moldau.pipeline.spark.worker.stopwatch import Stopwatch
from moldau.pipeline.spark.worker.time_limit import time_limit

SIZED_RECORDS_MIN: Final = 500


@dataclass
class _Batch:
    """A batch while it runs in a slot."""

    order: SlotOrder
    todo: list[TaskOrder]
    """The tasks that have not committed it."""
    report: SlotReport
    inputs: dict[TaskId, list[Columns]] = field(default_factory=dict)
    refused: dict[Refused, str] = field(default_factory=dict)
    """Output records that the broker rejects, with its reason."""
    watch: Stopwatch = field(default_factory=Stopwatch)

    def clock_ms(self) -> int:
        return self.order.clock_ms or int(time.time() * 1000)

    def count(self, outputs: Outputs) -> None:
        self.report.records_out += len(outputs.records)
        self.report.records_dead += len(outputs.dead)
        for what, dropped in outputs.dropped.items():
            count, late_ms = self.report.dropped.get(what, (0, 0))
            self.report.dropped[what] = (count + dropped.count, max(late_ms, dropped.late_ms_max))


class Slot:
    def __init__(self, application: Application, slot: int) -> None:
        self._application = application
        self.application_id = application.application_id
        self._topology: Topology = pickle.loads(application.topology)  # noqa: S301 the application's own code
        self.fails_by_choice = self._topology.error_handlers is not None
        self._transactional_id = f"{application.application_id}-{slot}"
        servers, settings = application.bootstrap_servers, application.client_settings
        self._consumer = Consumer(consumer_settings(servers, settings, application.application_id))
        self._reader = RangeReader(self._consumer)
        self._sink = Sink(
            servers,
            settings,
            self._consumer,
            self._transactional_id,
            transactional=application.exactly_once,
            partitioners=application.partitioners,
        )
        self._globals = GlobalTables(self._topology, servers, settings, application.application_id)
        self._tasks: dict[TaskId, HostedTask] = {}
        self._is_new = True

    def run(self, order: SlotOrder) -> SlotReport:
        report = SlotReport(order.slot)
        todo = self._not_yet_committed(order)
        report.tasks_skipped = len(order.tasks) - len(todo)
        if not todo:
            return report
        batch = _Batch(order, todo, report)
        self._read(batch)
        batch.watch.lap("read")
        while True:
            try:
                self._attempt(batch)
                break
            except RecordsRefused as failure:
                # Nothing of the batch is visible yet: it is run again without the records that the broker rejects.
                found = self._find_refused(failure, batch)
                if found.keys() <= batch.refused.keys():
                    raise
                batch.refused |= found
        batch.watch.lap("commit")
        for task in todo:
            hosted = self._tasks[task.task]
            hosted.committed(order.batch_id)
            report.due_ms[str(task.task)] = hosted.task.next_wall_clock_due_ms()
        if order.rests:
            self._reader.rest()
        batch.watch.lap("snapshot")
        report.phase_ms = batch.watch.laps_ms
        return report

    def take_back(self) -> None:
        """Call it after another process has run the slot. That producer has fenced ours; the tasks will read their new
        state from the files."""
        self._sink.abandon()
        self._sink = self._sink.another()
        self._is_new = True

    def close(self) -> None:
        self._sink.abandon()
        self._consumer.close()
        self._globals.close()

    def _read(self, batch: "_Batch") -> None:
        report = batch.report
        read = self._reader.read([one for task in batch.todo for one in task.ranges])
        for one in read:
            records, size = report.sizes.get(one.topic, (0, 0))
            report.sizes[one.topic] = (records + len(one), size + _size_of(one))
            report.newest_ms = max(report.newest_ms, max(one.timestamps_ms, default=-1))
        report.records_in = sum(map(len, read))
        found = {(one.topic, one.partition): one for one in read}
        for task in batch.todo:
            mine = batch.inputs[task.task] = []
            for topic, partition, *_ in task.ranges:
                columns = found.get((topic, partition))
                if columns is not None:
                    is_internal = topic in self._topology.internal_topics
                    mine += by_writer(columns) if is_internal else [columns]

    def _attempt(self, batch: "_Batch") -> None:
        """Runs the batch in one transaction."""
        batch.report.records_out = batch.report.records_dead = 0
        batch.report.dropped.clear()
        self._sink.begin()
        for task in batch.todo:
            self._run_task(task.task, batch)
        ranges = [one for task in batch.todo for one in task.ranges]
        self._sink.commit(ranges, Marker(self._application.checkpoint_id, batch.order.batch_id))

    def _find_refused(self, failure: RecordsRefused, batch: "_Batch") -> dict[Refused, str]:
        """Computes the outputs again and sends those of the topics that rejected records, to find out which. Without
        transactions the broker keeps the accepted ones: at least once."""
        self._sink.abandon()
        self._sink = self._sink.another()
        self._tasks.clear()
        suspects: list[OutputRecord] = []
        for task in batch.todo:
            hosted = self._caught_up(task.task, batch)
            outputs = self._outputs(hosted.task, task.task, batch)
            suspects += [
                one for one in self._stamped(outputs.records, task.task) if one.topic in failure.topics
            ]
        self._tasks.clear()
        return self._sink.find_refused(suspects)

    def _run_task(self, task_id: TaskId, batch: "_Batch") -> None:
        watch = batch.watch
        hosted = self._caught_up(task_id, batch)
        watch.lap("load")
        outputs = self._outputs(hosted.task, task_id, batch)
        watch.lap("task")
        deltas = hosted.save(batch.order.batch_id)
        watch.lap("save")
        written = self._stamped(outputs.records, task_id)
        if self._application.changelogs:
            changes = changelog_records(self._application.changelogs, task_id, deltas, hosted.task)
            written = [*written, *changes]
        topic = self._application.dead_letter_topic
        if topic is not None and outputs.dead:
            written = [*written, *(dead_letter(topic, dead, batch.clock_ms()) for dead in outputs.dead)]
        self._sink.write(written)
        batch.count(outputs)
        watch.lap("write")

    def _outputs(self, task: Task, task_id: TaskId, batch: "_Batch") -> Outputs:
        order, refused = batch.order, batch.refused
        with time_limit(task, self._application.record_ms_max):
            outputs = task.apply(batch.inputs[task_id], batch.clock_ms(), refused)
            if order.advance_ms is not None and task.waits_for_time:
                outputs.add(task.advance_time(order.advance_ms, refused))
        return outputs

    def _caught_up(self, task_id: TaskId, batch: "_Batch") -> HostedTask:
        """The task with its state as it was before the batch, and its global tables as they are now."""
        hosted = self._tasks.get(task_id)
        if hosted is None:
            hosted = HostedTask(self._topology, task_id, self._application, batch.clock_ms())
            self._tasks[task_id] = hosted
        hosted.catch_up(batch.order.batch_id)
        self._globals.update(task_id, hosted.task)
        return hosted

    def _stamped(self, records: list[OutputRecord], task: TaskId) -> list[OutputRecord]:
        internal, inputs = self._topology.internal_topics, self._application.transform_inputs
        if inputs:
            records = in_own_partition(records, inputs, task)
        return stamped(records, internal, task) if internal else records

    def _not_yet_committed(self, order: SlotOrder) -> list[TaskOrder]:
        """Only a new slot can receive a batch that is committed: nobody else writes with its transactional id."""
        if not self._is_new:
            return list(order.tasks)
        self._is_new = False
        markers = self._sink.markers(one for task in order.tasks for one in task.ranges)
        wanted = Marker(self._application.checkpoint_id, order.batch_id)

        def is_done(task: TaskOrder) -> bool:
            found = [markers.get((one.topic, one.partition)) for one in task.ranges]
            return any(
                marker and marker.checkpoint_id == wanted.checkpoint_id and marker.batch_id >= wanted.batch_id
                for marker in found
            )

        return [task for task in order.tasks if not is_done(task)]


def _size_of(columns: Columns) -> int:
    """In bytes, estimated from a sample."""
    step = max(1, len(columns) // SIZED_RECORDS_MIN)
    some = list(zip(columns.keys[::step], columns.values[::step], strict=True))
    size = sum(len(key or b"") + len(value or b"") for key, value in some)
    return size * len(columns) // max(1, len(some))
