"""The task: one sub-topology over one partition, as a pure function of its input and its state.

`apply(batch, now_ms)` takes records of the task's partitions and gives the records to write. It reads no clock,
opens no file and speaks to nobody: a host (Spark, the test driver) brings input and time, keeps outputs and state.
Records are taken in Kafka Streams' order: the partition whose next record is oldest first, each partition by offset.
"""

import heapq
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.operators.decoding import Decoded, decode_columns
from moldau.pipeline.operators.records import NO_HEADERS, Columns, DeadRecord, Headers, Outputs
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.timers import PunctuationType
from moldau.pipeline.operators.wiring import Wiring
from moldau.pipeline.plan.nodes import Source
from moldau.pipeline.plan.topology import SubTopology, Topology
from moldau.pipeline.serdes.serde import ServiceAway

OnError = Literal["fail", "dead_letter"]
STREAM_TIME = "stream time"


class ProcessingError(MoldauError):
    """A record broke the topology: which record, and why."""


class Task:
    def __init__(
        self,
        topology: Topology,
        part: SubTopology,
        partition: int,
        *,
        now_ms: int = 0,
        on_error: OnError = "fail",
        collapse: bool = False,
    ) -> None:
        """`now_ms` is the wall clock at the start: schedules by wall clock count from there. `collapse`: aggregates
        tell one change per key and batch, as Kafka Streams does with its record cache on; much cheaper."""
        from moldau.pipeline.operators import register_all

        register_all()
        self.topology = topology
        self.part = part
        self.partition = partition
        tables = topology.globals_of(part)
        self.state = TaskState(part.stores, [table.store for table in tables])
        self._context = RecordContext(partition, wall_clock_ms=now_ms)
        self._on_error = on_error
        self._wiring = Wiring(
            topology, part, self.state, self._context, collapse=collapse, failed=self._failed
        )
        self._sources: dict[str, list[Source]] = {}
        for source in part.sources():
            for topic in source.topics:
                self._sources.setdefault(topic, []).append(source)
        self._globals = {table.topic: table for table in tables}

    def apply(self, batch: Sequence[Columns], now_ms: int) -> Outputs:
        """Processes a batch; `state.take_changes()` afterwards tells what it did to the state."""
        context = self._context
        context.wall_clock_ms = now_ms
        context.stream_time_ms = self.state.times.get(STREAM_TIME, -1)
        outputs = context.outputs = Outputs()
        queues = [
            decode_columns(source, columns, outputs.dead if self._on_error == "dead_letter" else None)
            for columns in batch
            for source in self._sources.get(columns.topic, ())
        ]
        if len(queues) == 1:
            self._run(queues[0], range(len(queues[0].timestamps_ms)))
        else:
            for queue, index in _oldest_first(queues):
                self._run(queue, (index,))
        self.state.times[STREAM_TIME] = context.stream_time_ms
        self._wiring.timers.fire(PunctuationType.WALL_CLOCK_TIME, now_ms)
        self._wiring.end_batch()
        return outputs

    def apply_global(self, batch: Sequence[Columns]) -> None:
        """Puts records into the global tables this task looks into."""
        from moldau.pipeline.operators.tables import load_global

        for columns in batch:
            table = self._globals.get(columns.topic)
            if table is not None:
                load_global(table, columns, self.state.key_value(table.store.name))

    def _run(self, queue: Decoded, indexes: Sequence[int]) -> None:
        context = self._context
        push = self._wiring.inputs(queue.source.name)[0]
        timers = self._wiring.timers
        punctuates = timers.wanted(PunctuationType.STREAM_TIME)
        columns, keys, values, times = queue.columns, queue.keys, queue.values, queue.timestamps_ms
        context.topic = columns.topic
        context.record_partition = columns.partition
        context.columns = columns
        all_headers = columns.headers
        for index in indexes:
            timestamp_ms = times[index]
            if timestamp_ms < 0:
                continue
            headers: Headers = all_headers[index] if all_headers else NO_HEADERS
            context.offset = columns.offsets[index]
            context.timestamp_ms = timestamp_ms
            context.headers = headers
            if timestamp_ms > context.stream_time_ms:
                context.stream_time_ms = timestamp_ms
            try:
                push(keys[index], values[index], timestamp_ms, headers)
            except Exception as failure:  # noqa: BLE001 the user's functions may raise anything
                self._failed(columns, index, failure)
            if punctuates:
                timers.fire(PunctuationType.STREAM_TIME, context.stream_time_ms)

    def _failed(self, columns: Columns, index: int, failure: Exception) -> None:
        if isinstance(failure, ServiceAway):
            raise failure
        place = f"{columns.topic}-{columns.partition} at offset {columns.offsets[index]}"
        if self._on_error == "fail":
            raise ProcessingError(
                f"the record of {place} could not be processed: {type(failure).__name__}: {failure}"
            ) from failure
        self._context.outputs.dead.append(dead_record(columns, index, failure))


def dead_record(columns: Columns, index: int, failure: Exception) -> DeadRecord:
    return DeadRecord(
        columns.topic,
        columns.partition,
        columns.offsets[index],
        columns.timestamps_ms[index],
        columns.keys[index],
        columns.values[index],
        columns.headers[index] if columns.headers else NO_HEADERS,
        f"{type(failure).__name__}: {failure}",
        "".join(traceback.format_exception(failure)),
    )


def _oldest_first(queues: Sequence[Decoded]) -> Iterator[tuple[Decoded, int]]:
    """Always the queue whose head is oldest; among equals the one that waits longest."""
    heap: list[tuple[int, int, int, Any]] = []
    turn = 0
    for queue in queues:
        if queue.timestamps_ms:
            heap.append((queue.timestamps_ms[0], turn, 0, queue))
            turn += 1
    heapq.heapify(heap)
    while heap:
        _, _, index, queue = heap[0]
        yield queue, index
        index += 1
        if index < len(queue.timestamps_ms):
            heapq.heapreplace(heap, (queue.timestamps_ms[index], turn, index, queue))
            turn += 1
        else:
            heapq.heappop(heap)
