"""The task: one sub-topology over one partition, as a pure function of its input and its state.

`apply(batch, now_ms)` takes records of the task's partitions and returns the records to write. It reads no clock, opens
no file and sends nothing: a host (Spark, the test driver) provides input and time, and keeps outputs and state.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from moldau.pipeline.operators.context import UNKNOWN_TIME_MS, RecordContext
from moldau.pipeline.operators.decoding import SKIPPED_MS, decode_columns
from moldau.pipeline.operators.failures import (
    FAILURES,
    PASSED_ON,
    DecodingError,
    DoesNotReturn,
    ProcessingError,
    PunctuationError,
    StartAgain,
    TaskFailed,
    dead_record,
)
from moldau.pipeline.operators.inputs import Queue, inputs_of, merged
from moldau.pipeline.operators.records import NO_HEADERS, Columns, Outputs
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.timers import PunctuationType, Schedule
from moldau.pipeline.operators.verdicts import CheckedRecords, Refused, Verdicts
from moldau.pipeline.operators.wiring import Wiring
from moldau.pipeline.plan.handlers import ErrorHandlers
from moldau.pipeline.plan.nodes import Process, TableTransformValues
from moldau.pipeline.plan.topology import SubTopology, Topology

__all__ = [
    "STREAM_TIME",
    "DecodingError",
    "DoesNotReturn",
    "OnError",
    "ProcessingError",
    "PunctuationError",
    "Task",
    "TaskFailed",
    "dead_record",
]

OnError = Literal["fail", "dead_letter"]
STREAM_TIME = "stream time"
SLICE_RECORDS: Final = 1_000

Run = Callable[[int, int], None]
"""Processes the records of a queue from one index to another."""


class Task:
    def __init__(
        self,
        topology: Topology,
        part: SubTopology,
        partition: int,
        *,
        now_ms: int = 0,
        on_error: OnError = "fail",
        handlers: ErrorHandlers | None = None,
        collapse: bool = False,
    ) -> None:
        """`now_ms` is the wall-clock time at the start, from which wall-clock schedules count. `on_error` applies where
        neither `handlers` nor the topology's decide. `collapse`: aggregates emit one change per key and batch, as Kafka
        Streams does with its record cache. This is much cheaper."""
        from moldau.pipeline.operators import register_all

        register_all()
        self.topology = topology
        self.part = part
        self.partition = partition
        tables = topology.globals_of(part)
        self.state = TaskState(part.stores, [table.store for table in tables])
        self._context = RecordContext(partition, wall_clock_ms=now_ms)
        chosen = handlers or topology.error_handlers or ErrorHandlers()
        self._verdicts = Verdicts(chosen.with_default(on_error), self._context)
        self._wiring = Wiring(topology, part, self.state, self._context, self._verdicts, collapse=collapse)
        self._undo, self._timers = self._wiring.undo, self._wiring.timers
        self._inputs = inputs_of(self._wiring)
        self._globals = {table.topic: table for table in tables}
        self._has_processors = any(isinstance(node, Process | TableTransformValues) for node in part.nodes)
        # Then the only effects of a record are its outputs.
        self._is_stateless = not part.stores and not self._has_processors

        self._keeps_order = collapse or any(topic in topology.internal_topics for topic in part.sink_topics)

    def apply(self, batch: Sequence[Columns], now_ms: int, refused: Refused | None = None) -> Outputs:
        """Processes a batch. `state.take_changes()` then returns the changes of the state. If it raises, state and
        schedules are as before. `refused`: outputs of this batch that the broker rejected in an earlier attempt."""
        self._context.wall_clock_ms = now_ms
        if self._is_stateless and len(batch) == 1 and len(batch[0]) > SLICE_RECORDS:
            return self._apply_in_slices(batch[0], now_ms, refused)
        return self._apply_whole(batch, now_ms, refused)

    def _apply_in_slices(self, columns: Columns, now_ms: int, refused: Refused | None) -> Outputs:
        """Without state a batch is no more than its parts, and a part fits into the cache of the processor."""
        times_before = dict(self.state.times)
        outputs = Outputs()
        try:
            for part in columns.slices(SLICE_RECORDS):
                outputs.add(self._apply_whole([part], now_ms, refused))
        except BaseException:
            self.state.times.clear()
            self.state.times.update(times_before)
            raise
        return outputs

    def _apply_whole(self, batch: Sequence[Columns], now_ms: int, refused: Refused | None) -> Outputs:
        self._begin(refused)
        undecoded = self._context.outputs = Outputs()
        queues = [queue for columns in batch for queue in self._decoded(columns)]

        def work() -> None:
            self._run_all(queues)
            self._punctuate(PunctuationType.WALL_CLOCK_TIME, now_ms)
            self._wiring.end_batch()

        return self._until_done(work, refused, undecoded)

    def advance_time(self, to_ms: int, refused: Refused | None = None) -> Outputs:
        """Advances stream time as a record of that time with a new key would: releases held records and calls due
        punctuations. For a host that wants this while there is no input."""
        self._begin(refused)

        def work() -> None:
            context = self._context
            context.stream_time_ms = max(context.stream_time_ms, to_ms)
            context.leave_record(to_ms)
            context.order_ms = to_ms
            self._wiring.advance_time(to_ms)
            self._punctuate(PunctuationType.STREAM_TIME, context.stream_time_ms)
            self._wiring.end_batch()

        return self._until_done(work, refused, Outputs())

    def apply_global(self, batch: Sequence[Columns]) -> None:
        """Puts records into the global tables that this task uses."""
        from moldau.pipeline.operators.tables import load_global

        for columns in batch:
            table = self._globals.get(columns.topic)
            if table is not None:
                load_global(table, columns, self.state.key_value(table.store.name))

    def next_wall_clock_due_ms(self) -> int | None:
        """When `apply` must be called at the latest, even without input: the next wall-clock punctuation."""
        self._timers.settle()
        return self._timers.next_due_ms(PunctuationType.WALL_CLOCK_TIME)

    @property
    def waits_for_time(self) -> bool:
        """Whether `advance_time` can have any effect."""
        return self._wiring.waits_for_time or self._timers.wanted(PunctuationType.STREAM_TIME)

    @property
    def current(self) -> tuple[str, int, int]:
        """Topic, partition and offset of the current record; offset -1 if there is none."""
        context = self._context
        return context.topic, context.record_partition, context.offset

    def _decoded(self, columns: Columns) -> list[Queue]:
        """All sources skip a row that one of them cannot read."""
        dead = self._context.outputs.dead
        before = len(dead)
        queues = [
            Queue(one, decode_columns(one.source, columns, self._context, self._verdicts.on_undecodable))
            for one in self._inputs.get(columns.topic, ())
        ]
        if len(queues) > 1:
            dead[before:] = sorted(dead[before:], key=lambda one: one.offset)
            unread = {
                index
                for queue in queues
                for index, timestamp_ms in enumerate(queue.rows.timestamps_ms)
                if timestamp_ms == SKIPPED_MS
            }
            for queue in queues:
                for index in unread:
                    queue.rows.timestamps_ms[index] = SKIPPED_MS
        return queues

    def _begin(self, refused: Refused | None) -> None:
        self._verdicts.new_batch()
        self._timers.settle()
        self._context.stream_time_ms = self.state.times.get(STREAM_TIME, -1)

    def _until_done(self, work: Callable[[], None], refused: Refused | None, before: Outputs) -> Outputs:
        def outputs() -> Outputs:
            made = Outputs(CheckedRecords(refused, self._verdicts)) if refused else Outputs()
            made.add(before)
            return made

        def work_and_time() -> None:
            work()
            if self._context.stream_time_ms >= 0:
                self.state.times[STREAM_TIME] = self._context.stream_time_ms

        try:
            return self._undo.until_done(work_and_time, outputs)
        finally:
            self._context.leave_record(-1)

    def _run_all(self, queues: list[Queue]) -> None:
        self._context.order_ms = UNKNOWN_TIME_MS
        has_siblings = any(queue.input.has_siblings for queue in queues)
        by_record = self._undo.by_record and (has_siblings or not self._is_stateless)
        runner = self._one_by_one if by_record else self._straight
        runs = {id(queue): runner(queue) for queue in queues}
        if len(queues) == 1:
            runs[id(queues[0])](0, len(queues[0].rows.timestamps_ms))
        else:
            for queue, start, end in merged(queues):
                runs[id(queue)](start, end)

    def _straight(self, queue: Queue) -> Run:
        """The loop over the records of a queue. The most frequently executed code, so names are bound before it."""
        context, timers, push = self._context, self._timers, queue.input.push
        rows, columns = queue.rows, queue.rows.columns
        keys, values, times, order_ms = rows.keys, rows.values, rows.timestamps_ms, rows.order_ms
        offsets, all_headers, records = columns.offsets, columns.headers, context.outputs.records
        topic, partition = columns.topic, columns.partition
        keeps_order, may_punctuate = self._keeps_order, self._has_processors
        takes_back = self._undo.by_record

        def run(start: int, end: int) -> None:
            context.topic, context.record_partition, context.columns = topic, partition, columns
            stream_time_ms, written, headers = context.stream_time_ms, 0, NO_HEADERS
            for index in range(start, end):
                timestamp_ms = times[index]
                if timestamp_ms < 0:
                    continue
                if all_headers:
                    headers = all_headers[index]
                context.offset = offsets[index]
                context.timestamp_ms = timestamp_ms
                context.headers = headers
                if keeps_order and order_ms[index] > context.order_ms:
                    context.order_ms = order_ms[index]
                if timestamp_ms > stream_time_ms:
                    context.stream_time_ms = stream_time_ms = timestamp_ms
                if takes_back:
                    written = len(records)
                try:
                    push(keys[index], values[index], timestamp_ms, headers)
                except FAILURES as failure:
                    self._failed(queue, index, failure, written)
                if may_punctuate and stream_time_ms >= timers.stream_due_ms:
                    self._punctuate(PunctuationType.STREAM_TIME, stream_time_ms)
                    context.topic, context.record_partition, context.columns = topic, partition, columns

        return run

    def _one_by_one(self, queue: Queue) -> Run:
        """Each record is an attempt of its own."""
        context, undo = self._context, self._undo
        columns, times = queue.rows.columns, queue.rows.timestamps_ms

        def run(start: int, end: int) -> None:
            for index in range(start, end):
                if times[index] < 0:
                    continue
                place = (id(columns), index)
                failure = undo.failures.get(place)
                if failure is None:
                    failure = undo.attempt(self._take, queue, index)
                    if failure is not None and queue.input.has_siblings:
                        undo.failures[place] = failure
                        raise StartAgain
                if failure is not None:
                    self._give_up(queue, index, failure)
                if context.stream_time_ms >= self._timers.stream_due_ms:
                    self._punctuate(PunctuationType.STREAM_TIME, context.stream_time_ms)

        return run

    def _take(self, queue: Queue, index: int) -> None:
        context, rows, columns = self._context, queue.rows, queue.rows.columns
        context.topic, context.record_partition, context.columns = columns.topic, columns.partition, columns
        context.offset = columns.offsets[index]
        context.timestamp_ms = rows.timestamps_ms[index]
        context.headers = columns.headers[index] if columns.headers else NO_HEADERS
        context.order_ms = max(context.order_ms, rows.order_ms[index])
        context.stream_time_ms = max(context.stream_time_ms, context.timestamp_ms)
        queue.input.push(rows.keys[index], rows.values[index], context.timestamp_ms, context.headers)

    def _failed(self, queue: Queue, index: int, failure: BaseException, written: int) -> None:
        """In the first attempt, or in the second if the record has left nothing but outputs."""
        if isinstance(failure, PASSED_ON):
            raise failure
        columns = queue.rows.columns
        if self._undo.by_record:
            del self._context.outputs.records[written:]
            self._give_up(queue, index, failure)
            return
        if self._verdicts.stops_at(failure):
            raise self._verdicts.stop_at_record(columns, index, failure) from failure
        self._undo.failures[id(columns), index] = failure
        raise StartAgain from failure

    def _give_up(self, queue: Queue, index: int, failure: BaseException) -> None:
        columns = queue.rows.columns
        first = self._inputs[columns.topic][0]
        if queue.input is first or not queue.input.has_siblings:
            self._verdicts.on_record(queue.input.source, columns, index, failure)

    def _punctuate(self, kind: PunctuationType, now_ms: int) -> None:
        while due := self._timers.due(kind, now_ms):
            for schedule in due:
                self._context.leave_record(now_ms)
                if self._undo.by_record:
                    failure = self._undo.attempt(self._timers.call, schedule, now_ms)
                    if failure is not None:
                        self._verdicts.on_punctuation(schedule.owner, failure)
                        self._timers.miss(schedule, now_ms)
                else:
                    self._call(schedule, now_ms)

    def _call(self, schedule: Schedule, now_ms: int) -> None:
        """In the first attempt."""
        try:
            self._timers.call(schedule, now_ms)
        except FAILURES as failure:
            if isinstance(failure, PASSED_ON):
                raise
            if self._verdicts.may_skip_failures:
                raise StartAgain from failure
            self._verdicts.on_punctuation(schedule.owner, failure)
