"""A slot: the tasks of an application that one worker process runs, one after the other, in one transaction a batch.

As a stream thread in Kafka Streams. Lives in a Spark worker and is kept there from batch to batch with its clients and
the state of its tasks; all of it can be built again from checkpoint and topics, and is, wherever Spark puts it next.
"""

import gc
import os
import pickle
import socket
import time
from typing import Final

from confluent_kafka import Consumer

from moldau.pipeline.operators.records import Columns, OutputRecord
from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.nodes import Process
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.changelog import changelog_records
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.dead_letters import dead_letter
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.global_tables import GlobalTables
from moldau.pipeline.spark.orders import Application, SlotOrder, SlotReport, TaskId, TaskOrder
from moldau.pipeline.spark.range_reader import RangeReader
from moldau.pipeline.spark.sink import Marker, Sink
from moldau.pipeline.spark.state_files import START, StateFiles
from moldau.pipeline.spark.stopwatch import Stopwatch

UNUSED_SLOTS_MAX: Final = 64


class HostedTask:
    """A task and the version of its state: the batch it has last seen, START when none."""

    def __init__(self, topology: Topology, task_id: TaskId, application: Application) -> None:
        part = topology.sub_topologies[task_id.part]
        on_error = "dead_letter" if application.dead_letter_topic else "fail"
        self.task = Task(
            topology,
            part,
            task_id.partition,
            now_ms=_now_ms(),
            on_error=on_error,  # type: ignore[arg-type]
            collapse=application.record_cache,
        )
        # Processors of the user may go by stream time, which is state too.
        self._keeps_state = part.is_stateful or any(isinstance(node, Process) for node in part.nodes)
        self._files = StateFiles(Folder(application.state_folder).within(str(task_id)))
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
        self._topology: Topology = pickle.loads(application.topology)  # noqa: S301 the application's own code
        self._transactional_id = f"{application.application_id}-{slot}"
        servers, settings = application.bootstrap_servers, application.client_settings
        self._consumer = Consumer(consumer_settings(servers, settings, application.application_id))
        self._reader = RangeReader(self._consumer)
        self._sink = self._new_sink()
        self._globals = GlobalTables(self._topology, servers, settings, application.application_id)
        self._tasks: dict[TaskId, HostedTask] = {}
        self._is_new = True

    def run(self, order: SlotOrder) -> SlotReport:
        report, watch = SlotReport(order.slot, holder=this_process()), Stopwatch()
        todo = self._not_yet_done(order)
        report.tasks_skipped = len(order.tasks) - len(todo)
        if not todo:
            return report
        ranges = [one for task in todo for one in task.ranges]
        columns = {(one.topic, one.partition): one for one in self._reader.read(ranges)}
        report.records_in = sum(map(len, columns.values()))
        watch.lap("read")
        self._sink.begin()
        for task in todo:
            mine = [columns[r.topic, r.partition] for r in task.ranges if (r.topic, r.partition) in columns]
            self._run_task(task, mine, order.batch_id, report, watch)
        self._sink.commit(ranges, Marker(self._application.checkpoint_id, order.batch_id))
        watch.lap("commit")
        for task in todo:
            self._tasks[task.task].committed(order.batch_id)
        watch.lap("snapshot")
        report.phase_ms = watch.laps_ms
        return report

    def take_back(self) -> None:
        """After another process has run it: that one's producer has fenced ours; the tasks find what is new to them in
        the state's files."""
        self._sink.abandon()
        self._sink = self._new_sink()
        self._is_new = True

    def close(self) -> None:
        self._sink.abandon()
        self._consumer.close()
        self._globals.close()

    def _new_sink(self) -> Sink:
        application = self._application
        return Sink(
            application.bootstrap_servers,
            application.client_settings,
            self._consumer,
            self._transactional_id,
            transactional=application.exactly_once,
        )

    def _run_task(
        self, order: TaskOrder, columns: list[Columns], batch_id: int, report: SlotReport, watch: Stopwatch
    ) -> None:
        hosted = self._hosted(order.task)
        hosted.catch_up(batch_id)
        self._globals.update(order.task, hosted.task)
        watch.lap("load")
        outputs = hosted.task.apply(columns, _now_ms())
        watch.lap("task")
        deltas = hosted.save(batch_id)
        watch.lap("save")
        written: list[OutputRecord] = outputs.records
        if self._application.changelogs:
            written = [
                *written,
                *changelog_records(self._application.changelogs, order.task, deltas, hosted.task),
            ]
        topic = self._application.dead_letter_topic
        if topic is not None:
            written = (
                [*written, *(dead_letter(topic, dead) for dead in outputs.dead)] if outputs.dead else written
            )
        self._sink.write(written)
        report.records_out += len(outputs.records)
        report.records_dead += len(outputs.dead)
        watch.lap("write")

    def _hosted(self, task_id: TaskId) -> HostedTask:
        hosted = self._tasks.get(task_id)
        if hosted is None:
            hosted = self._tasks[task_id] = HostedTask(self._topology, task_id, self._application)
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
    """Runs in a Spark worker. After any failure the slot is built anew: nothing half done is kept."""
    here = (order.application.run_id, order.slot)
    slot = _slots.get(here)
    if order.is_last:
        if slot is not None:
            _slots.pop(here).close()
        return SlotReport(order.slot)
    was_elsewhere = slot is not None and order.holder != this_process()
    if slot is None:
        while len(_slots) >= UNUSED_SLOTS_MAX:
            _slots.pop(next(iter(_slots))).close()
        slot = _slots[here] = Slot(order.application, order.slot)
    # A batch makes a great many objects that are all let go at its end: looking for cycles among them costs a third.
    gc.disable()
    try:
        if was_elsewhere:
            slot.take_back()
        return slot.run(order)
    except BaseException:
        _slots.pop(here).close()
        raise
    finally:
        gc.enable()


def this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _now_ms() -> int:
    return int(time.time() * 1000)
