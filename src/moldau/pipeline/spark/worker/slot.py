"""A slot: the tasks of an application that one worker process runs, one after the other, in one transaction a batch.

As a stream thread in Kafka Streams. Lives in a Spark worker and is kept there from batch to batch with its clients and
the state of its tasks; all of it can be built again from checkpoint and topics, and is, wherever Spark puts it next.
"""

import ctypes
import functools
import gc
import os
import pickle
import socket
import time
from typing import Final

from confluent_kafka import Consumer, KafkaException

from moldau.pipeline.operators.failures import TaskFailed
from moldau.pipeline.operators.records import Columns, OutputRecord, Outputs
from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.kept_state import KeptState
from moldau.pipeline.spark.checkpoint.state_files import START, StateFiles
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.orders import Application, SlotOrder, SlotReport, TaskId, TaskOrder
from moldau.pipeline.spark.upgrades.inventory import keeps_state
from moldau.pipeline.spark.worker.changelog import changelog_records
from moldau.pipeline.spark.worker.dead_letters import dead_letter
from moldau.pipeline.spark.worker.global_tables import GlobalTables
from moldau.pipeline.spark.worker.range_reader import RangeReader
from moldau.pipeline.spark.worker.repartition_headers import by_writer, stamped
from moldau.pipeline.spark.worker.sink import Marker, RecordsRefused, Refused, Sink
from moldau.pipeline.spark.worker.stopwatch import Stopwatch
from moldau.pipeline.spark.worker.time_limit import time_limit

SLOTS_MAX: Final = 1_000
"""In one process, of all applications; the oldest make room."""
SIZED_RECORDS_MIN: Final = 500
TRIM_BYTES_MIN: Final = 16 << 20


class HostedTask:
    """A task and the version of its state: the batch it has last seen, START when none."""

    def __init__(self, topology: Topology, task_id: TaskId, application: Application, now_ms: int) -> None:
        part = topology.sub_topologies[task_id.part]
        on_error = "dead_letter" if application.dead_letter_topic else "fail"
        self.task = Task(
            topology,
            part,
            task_id.partition,
            now_ms=now_ms,
            on_error=on_error,  # type: ignore[arg-type]
            collapse=application.record_cache,
        )
        self._keeps_state = keeps_state(part)
        kept = KeptState(self.task.state.stores, application.state_begins)
        self._files = StateFiles(
            Folder(application.state_folder).within(application.folder_of(task_id)), kept
        )
        self._version = START

    def catch_up(self, batch_id: int) -> None:
        """Brings the state to what it was before `batch_id`, from memory and from what others have written."""
        if not self._keeps_state:
            return
        from_nothing, deltas = self._files.changes(self._version, batch_id)
        if from_nothing:
            self.task.state.clear()
        self.task.state.load(deltas)

    def save(self, batch_id: int) -> list[tuple[str, bytes, bytes | None]]:
        """Writes what the batch changed, and gives it."""
        if not self._keeps_state:
            return []
        deltas = self.task.state.take_changes()
        self._files.write_delta(batch_id, deltas)
        return deltas

    def committed(self, batch_id: int) -> None:
        self._version = batch_id
        if self._files.wants_snapshot:
            self._files.write_snapshot(batch_id, self.task.state.items())


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
        report, watch = SlotReport(order.slot, holder=this_process()), Stopwatch()
        todo = self._not_yet_done(order)
        report.tasks_skipped = len(order.tasks) - len(todo)
        if not todo:
            return report
        columns = self._read(todo, report)
        watch.lap("read")
        refused: dict[Refused, str] = {}
        while True:
            try:
                self._attempt(order, todo, columns, refused, report, watch)
                break
            except RecordsRefused as failure:
                # Nobody has seen the batch: it is done again without what the broker does not take.
                found = self._find_refused(failure, order, todo, columns, refused)
                if found.keys() <= refused.keys():
                    raise
                refused |= found
        watch.lap("commit")
        for task in todo:
            hosted = self._tasks[task.task]
            hosted.committed(order.batch_id)
            report.due_ms[str(task.task)] = hosted.task.next_wall_clock_due_ms()
        if order.rests:
            self._reader.rest()
        watch.lap("snapshot")
        report.phase_ms = watch.laps_ms
        return report

    def take_back(self) -> None:
        """After another process has run it: that one's producer has fenced ours; the tasks find what is new to them in
        the state's files."""
        self._sink.abandon()
        self._sink = self._sink.another()
        self._is_new = True

    def close(self) -> None:
        self._sink.abandon()
        self._consumer.close()
        self._globals.close()

    def _read(self, todo: list[TaskOrder], report: SlotReport) -> dict[TaskId, list[Columns]]:
        """The input of each task."""
        read = self._reader.read([one for task in todo for one in task.ranges])
        for one in read:
            size = _size_of(one)
            records, before = report.sizes.get(one.topic, (0, 0))
            report.sizes[one.topic] = (records + len(one), before + size)
            report.newest_ms = max(report.newest_ms, max(one.timestamps_ms, default=-1))
        report.records_in = sum(map(len, read))
        found = {(one.topic, one.partition): one for one in read}
        inputs: dict[TaskId, list[Columns]] = {}
        for task in todo:
            mine = inputs[task.task] = []
            for topic, partition, *_ in task.ranges:
                columns = found.get((topic, partition))
                if columns is not None:
                    is_internal = topic in self._topology.internal_topics
                    mine += by_writer(columns) if is_internal else [columns]
        return inputs

    def _attempt(
        self,
        order: SlotOrder,
        todo: list[TaskOrder],
        columns: dict[TaskId, list[Columns]],
        refused: dict[Refused, str],
        report: SlotReport,
        watch: Stopwatch,
    ) -> None:
        """The batch in one transaction."""
        report.records_out = report.records_dead = 0
        report.dropped.clear()
        self._sink.begin()
        for task in todo:
            self._run_task(order, task, columns[task.task], refused, report, watch)
        ranges = [one for task in todo for one in task.ranges]
        self._sink.commit(ranges, Marker(self._application.checkpoint_id, order.batch_id))

    def _find_refused(
        self,
        failure: RecordsRefused,
        order: SlotOrder,
        todo: list[TaskOrder],
        columns: dict[TaskId, list[Columns]],
        refused: dict[Refused, str],
    ) -> dict[Refused, str]:
        """Makes the outputs once more to try those of the topics that refused some. Without transactions what was
        taken stays: at least once."""
        self._sink.abandon()
        self._sink = self._sink.another()
        self._tasks.clear()
        suspects: list[OutputRecord] = []
        for task in todo:
            hosted = self._hosted(task.task, order.clock_ms or _now_ms())
            hosted.catch_up(order.batch_id)
            self._globals.update(task.task, hosted.task)
            outputs = self._outputs(hosted.task, order, columns[task.task], refused)
            suspects += [
                one for one in self._stamped(outputs.records, task.task) if one.topic in failure.topics
            ]
        self._tasks.clear()
        return self._sink.find_refused(suspects)

    def _outputs(
        self, task: Task, order: SlotOrder, columns: list[Columns], refused: dict[Refused, str]
    ) -> Outputs:
        with time_limit(task, self._application.record_ms_max):
            outputs = task.apply(columns, order.clock_ms or _now_ms(), refused)
            if order.advance_ms is not None and task.waits_for_time:
                outputs.add(task.advance_time(order.advance_ms, refused))
        return outputs

    def _run_task(
        self,
        order: SlotOrder,
        task: TaskOrder,
        columns: list[Columns],
        refused: dict[Refused, str],
        report: SlotReport,
        watch: Stopwatch,
    ) -> None:
        clock_ms = order.clock_ms or _now_ms()
        hosted = self._hosted(task.task, clock_ms)
        hosted.catch_up(order.batch_id)
        self._globals.update(task.task, hosted.task)
        watch.lap("load")
        outputs = self._outputs(hosted.task, order, columns, refused)
        watch.lap("task")
        deltas = hosted.save(order.batch_id)
        watch.lap("save")
        written = self._stamped(outputs.records, task.task)
        if self._application.changelogs:
            changes = changelog_records(self._application.changelogs, task.task, deltas, hosted.task)
            written = [*written, *changes]
        topic = self._application.dead_letter_topic
        if topic is not None and outputs.dead:
            written = [*written, *(dead_letter(topic, dead, clock_ms) for dead in outputs.dead)]
        self._sink.write(written)
        report.records_out += len(outputs.records)
        report.records_dead += len(outputs.dead)
        for what, dropped in outputs.dropped.items():
            count, late_ms = report.dropped.get(what, (0, 0))
            report.dropped[what] = (count + dropped.count, max(late_ms, dropped.late_ms_max))
        watch.lap("write")

    def _stamped(self, records: list[OutputRecord], task: TaskId) -> list[OutputRecord]:
        internal = self._topology.internal_topics
        return stamped(records, internal, task) if internal else records

    def _hosted(self, task_id: TaskId, now_ms: int) -> HostedTask:
        hosted = self._tasks.get(task_id)
        if hosted is None:
            hosted = HostedTask(self._topology, task_id, self._application, now_ms)
            self._tasks[task_id] = hosted
        return hosted

    def _not_yet_done(self, order: SlotOrder) -> list[TaskOrder]:
        """Only a slot that has just come here can meet a batch that is committed: it alone writes under its id."""
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


_slots: dict[tuple[str, int], Slot] = {}
"""Of this worker process, by run and slot number."""


def run_slot(order: SlotOrder) -> SlotReport:
    """Runs in a Spark worker. After any failure the slot is built again: nothing half done is kept. What failed is in
    the report, since other applications may be served by the same Spark task."""
    here = (order.application.run_id, order.slot)
    slot = _slots.get(here)
    if order.is_last:
        if slot is not None:
            _slots.pop(here).close()
        return SlotReport(order.slot)
    was_elsewhere = slot is not None and order.holder != this_process()
    # A batch makes a great many objects that are all let go at its end: looking for cycles among them costs a third.
    gc.disable()
    try:
        if slot is None:
            slot = _new_slot(order, here)
        if was_elsewhere:
            slot.take_back()
        report = slot.run(order)
    except Exception as failure:  # noqa: BLE001 told to the driver, which decides
        is_final = isinstance(failure, TaskFailed) and slot is not None and slot.fails_by_choice
        if here in _slots:
            _slots.pop(here).close()
        return SlotReport(order.slot, this_process(), error=_told(failure), is_final=is_final)
    finally:
        gc.enable()
    give_memory_back(report)
    return report


def _new_slot(order: SlotOrder, here: tuple[str, int]) -> Slot:
    application_id = order.application.application_id
    # What an earlier run of the same application has left.
    for key, slot in list(_slots.items()):
        if key[1] == order.slot and slot.application_id == application_id:
            _slots.pop(key).close()
    while len(_slots) >= SLOTS_MAX:
        _slots.pop(next(iter(_slots))).close()
    slot = _slots[here] = Slot(order.application, order.slot)
    return slot


def _size_of(columns: Columns) -> int:
    """About as many bytes as they have: some are looked at."""
    step = max(1, len(columns) // SIZED_RECORDS_MIN)
    some = list(zip(columns.keys[::step], columns.values[::step], strict=True))
    size = sum(len(key or b"") + len(value or b"") for key, value in some)
    return size * len(columns) // max(1, len(some))


def _told(failure: Exception) -> str:
    if isinstance(failure, KafkaException):
        return f"KafkaException: {failure.args[0].str()}"
    return f"{type(failure).__name__}: {failure}"


def give_memory_back(report: SlotReport) -> None:
    """After a batch of many bytes: what the allocator keeps is of no use until the next such batch."""
    if sum(size for _, size in report.sizes.values()) < TRIM_BYTES_MIN:
        return
    trim = getattr(_libc(), "malloc_trim", None)
    if trim is not None:
        trim(0)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _now_ms() -> int:
    return int(time.time() * 1000)
