"""A query's own operators in memory, as one task over all partitions. Its internal topics are queues."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.operators.records import Columns, OutputRecord
from moldau.pipeline.operators.task import Task
from moldau.pipeline.operators.topic_heads import TopicHeads
from moldau.pipeline.plan.nodes import Node, Sink, Source
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.queries.row_stream import Tombstone
from moldau.pipeline.sql.translation.query import topology_of
from moldau.pipeline.sql.translation.row import OnFailure

RESULT: Final = "result"
JSON_KEY: Final = Format("JSON", is_wrapped=False)
JSON: Final = Format("JSON")


class MemoryRun:
    """Records in, rows out. Not for more than one thread at a time."""

    def __init__(self, plan: QueryPlan, on_failure: OnFailure) -> None:
        topology = transient_topology(plan, on_failure)
        self._on_failure = on_failure
        self._internal = topology.internal_topics
        self._task = Task(topology, topology.whole, 0, on_error="dead_letter", collapse=True)
        self._offsets: dict[str, int] = {}
        self._pending: dict[str, deque[Columns]] = {}
        self._heads = TopicHeads()
        self._is_windowed = plan.window is not None
        key_index = {one.column: index for index, one in enumerate(plan.key)}
        self._key_columns = [key_index.get(one.column) for one in plan.value]
        self._is_table = plan.kind.value == "TABLE"

    @property
    def is_stateful(self) -> bool:
        return self._task.part.is_stateful

    def take(self, batch: Sequence[Columns]) -> list[tuple[Any, ...]]:
        """The rows that a batch of records leads to."""
        if not self._internal:
            return self._rows(self._apply(batch))
        # Record by record, so that what a record becomes behind an internal topic meets the state of its own time.
        written: list[OutputRecord] = []
        for columns in batch:
            for index in range(len(columns)):
                self._offer(_one(columns, index))
        while self._heads:
            for record in self._apply([self._next()]):
                if record.topic in self._internal:
                    self._offer_own(record)
                else:
                    written.append(record)
        return self._rows(written)

    def _apply(self, batch: Sequence[Columns]) -> list[OutputRecord]:
        outputs = self._task.apply(batch, 0)
        self._task.state.take_changes()
        for dead in outputs.dead:
            where = f"the record of {dead.topic}-{dead.partition} at offset {dead.offset}"
            self._on_failure(where, ValueError(dead.reason), dead.value)
        return outputs.records

    def _rows(self, records: Sequence[OutputRecord]) -> list[tuple[Any, ...]]:
        if not self._is_table:
            return [record.value for record in records]  # type: ignore[misc]
        return [
            self._tombstone(record.key) if record.value is None else record.value  # type: ignore[misc]
            for record in records
        ]

    def _tombstone(self, key: Any) -> Tombstone:
        columns = key[0] if self._is_windowed and key is not None else key
        return Tombstone(
            None if index is None or columns is None else columns[index] for index in self._key_columns
        )

    def _offer_own(self, record: OutputRecord) -> None:
        offset = self._offsets.get(record.topic, 0)
        self._offsets[record.topic] = offset + 1
        times, headers = [record.timestamp_ms], [record.headers]
        self._offer(Columns(record.topic, 0, [offset], times, [record.key], [record.value], headers))

    def _offer(self, columns: Columns) -> None:
        queue = self._pending.setdefault(columns.topic, deque())
        queue.append(columns)
        if len(queue) == 1:
            self._heads.offer(columns.timestamps_ms[0], columns.topic)

    def _next(self) -> Columns:
        topic = self._heads.poll()
        queue = self._pending[topic]
        columns = queue.popleft()
        if queue:
            self._heads.offer(queue[0].timestamps_ms[0], topic)
        return columns


def transient_topology(plan: QueryPlan, on_failure: OnFailure) -> Topology:
    """The topology of a query whose rows are not written but handed over, as the values they are."""
    target = SourceInfo(RESULT, plan.kind, plan.schema, RESULT, JSON_KEY, JSON, plan.window)
    made = topology_of(plan, target, "query", guarantee=Guarantee.AT_LEAST_ONCE, on_failure=on_failure)
    return replace(made, nodes=tuple(_transient(node) for node in made.nodes))


def _transient(node: Node) -> Node:
    match node:
        case Sink() if node.topic == RESULT:
            return replace(node, key_serde=AsIs(), value_serde=AsIs())
        case Source():
            return replace(node, key_serde=Kept(node.key_serde), value_serde=Kept(node.value_serde))
    return node


class Kept(Serde):
    """Makes a decoder once for each topic: a task asks for it with every batch, and these batches are small."""

    def __init__(self, inner: Serde) -> None:
        self._inner = inner
        self._decoders: dict[tuple[str, bool], Decoder] = {}

    @property
    def name(self) -> str:
        return self._inner.name

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        return self._inner.encoder(topic, is_key=is_key)

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        found = self._decoders.get((topic, is_key))
        if found is None:
            found = self._decoders[topic, is_key] = self._inner.decoder(topic, is_key=is_key)
        return found


class AsIs(Serde):
    """Not to bytes and back: for what stays in this process."""

    @property
    def name(self) -> str:
        return "as-is"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        return _same

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        return _same


def _same(value: Any) -> Any:
    return value


def _one(columns: Columns, index: int) -> Columns:
    return Columns(
        columns.topic,
        columns.partition,
        [columns.offsets[index]],
        [columns.timestamps_ms[index]],
        [columns.keys[index]],
        [columns.values[index]],
        [columns.headers[index]] if columns.headers else None,
    )
