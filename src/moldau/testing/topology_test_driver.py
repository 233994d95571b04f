"""TopologyTestDriver: runs a topology record by record, without a broker, Spark or a clock.

    with TopologyTestDriver(topology) as driver:
        driver.pipe("words", "k", "hello hello", timestamp_ms=0)
        assert driver.read("counts") == [("hello", 1), ("hello", 2)]

All sub-topologies run as one task over one partition, as in Kafka's driver of the same name. Records written to topics
of the application, or to topics the topology reads, are processed before `pipe` returns.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.records import (
    NO_HEADERS,
    Columns,
    Dropped,
    Headers,
    OutputRecord,
    Outputs,
)
from moldau.pipeline.operators.state import Delta
from moldau.pipeline.operators.stores.views import view
from moldau.pipeline.operators.task import OnError, Task
from moldau.pipeline.operators.topic_heads import TopicHeads
from moldau.pipeline.plan.nodes import GlobalTable, Sink, Source, transforms_of
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.serdes.serde import Serde


class WrittenRecord(NamedTuple):
    """A record of an output topic, decoded."""

    key: Any
    value: Any
    timestamp_ms: int
    headers: Headers = NO_HEADERS


class TopologyTestDriver:
    def __init__(
        self,
        topology: Topology,
        *,
        now_ms: int = 0,
        on_error: OnError = "fail",
        refuse: Callable[[OutputRecord], str | None] | None = None,
        topics: Iterable[str] = (),
        spark: Any = None,
    ) -> None:
        """`now_ms` is the wall clock at the start; only `advance_wall_clock` moves it. `refuse` stands for a broker
        that rejects some records: it returns the reason, or None. `topics` are the existing topics, for sources that
        subscribe by pattern. `spark` is the SparkSession for `transform()`: its function gets the records of one `pipe`
        or `pipe_all` as a batch."""
        topology = topology.with_topics(topics) if topology.patterns else topology
        self._topology = topology
        self._task = Task(topology, topology.whole, 0, now_ms=now_ms, on_error=on_error)
        self._refuse = refuse
        self._now_ms = now_ms
        self._stream_time_ms = 0
        self._offsets: dict[str, int] = {}
        self._pending: dict[str, deque[Columns]] = {}
        self._heads = TopicHeads()
        self._written: dict[str, deque[OutputRecord]] = {}
        self.dead: list[Any] = []
        """Records that could not be processed, with `on_error="dead_letter"` or error handlers that choose it."""
        self.dropped: dict[tuple[str, str], Dropped] = {}
        """How many records were dropped, by operator and reason, and how late the latest was."""
        self._sources = _serdes_of_sources(topology)
        self._sinks = _serdes_of_sinks(topology)
        self._chosen = _serdes_of_choosing_sink(topology)
        self._globals = {table.topic for table in topology.global_tables}
        self._transforms = _transforms(topology, spark)
        self._is_piping_all = False
        self._to_transform: dict[str, list[OutputRecord]] = {topic: [] for topic in self._transforms}

    def pipe(
        self,
        topic: str,
        key: Any,
        value: Any,
        timestamp_ms: int | None = None,
        *,
        headers: Headers = NO_HEADERS,
    ) -> None:
        """Writes one record to a source topic and processes everything that follows from it. Without a timestamp the
        record has that of the previous one."""
        keys, values = self._serdes(topic)
        encode_key, encode_value = keys.encoder(topic, is_key=True), values.encoder(topic, is_key=False)
        self.pipe_bytes(topic, encode_key(key), encode_value(value), timestamp_ms, headers=headers)

    def pipe_bytes(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp_ms: int | None = None,
        *,
        headers: Headers = NO_HEADERS,
    ) -> None:
        """As `pipe`, for bytes as they would be in the topic."""
        if topic not in self._sources:
            raise ConfigError(
                f"the topology does not read {topic!r}; it reads {', '.join(sorted(self._sources))}"
            )
        if timestamp_ms is None:
            timestamp_ms = self._stream_time_ms
        self._stream_time_ms = timestamp_ms
        self._enqueue(topic, key, value, timestamp_ms, headers)
        self._work()
        if not self._is_piping_all:
            self._transform()

    def pipe_all(self, topic: str, records: Iterable[tuple[Any, ...]]) -> None:
        """Writes records given as (key, value) or (key, value, timestamp_ms)."""
        self._is_piping_all = True
        try:
            for record in records:
                self.pipe(topic, *record)
        finally:
            self._is_piping_all = False
        self._transform()

    def read(self, topic: str) -> list[tuple[Any, Any]]:
        """Returns key and value of each record written to a topic since the last read."""
        return [(record.key, record.value) for record in self.read_records(topic)]

    def read_records(self, topic: str) -> list[WrittenRecord]:
        """As `read`, with timestamps and headers."""
        keys, values = self._sinks.get(topic) or self._serdes(topic)
        decode_key, decode_value = keys.decoder(topic, is_key=True), values.decoder(topic, is_key=False)
        return [
            WrittenRecord(decode_key(one.key), decode_value(one.value), one.timestamp_ms, one.headers)
            for one in self.read_bytes(topic)
        ]

    def read_bytes(self, topic: str) -> list[OutputRecord]:
        """Returns the records written since the last read, as bytes in the topic."""
        return list(self._written.pop(topic, ()))

    def read_table(self, topic: str) -> Mapping[Any, Any]:
        """Returns the records written since the last read as a table: the last value of each key, without deleted
        keys."""
        table: dict[Any, Any] = {}
        for key, value in self.read(topic):
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        return table

    def store(self, name: str) -> Any:
        """Returns a view of a state store: get, range and all; fetch for windows and sessions."""
        spec = self._topology.stores.get(name)
        if spec is None:
            raise ConfigError(
                f"no store {name!r} in the topology; it has {', '.join(sorted(self._topology.stores))}"
            )
        state = self._task.state
        home = state.stores if name in state.stores else state.global_stores
        return view(spec, home[name])

    def advance_wall_clock(self, by_ms: int) -> None:
        """Moves the wall clock and runs what is scheduled by it."""
        self._now_ms += by_ms
        self._apply([])
        self._work()
        self._transform()

    def advance_stream_time(self, to_ms: int) -> None:
        """Advances stream time without a record: closes windows, emits suppressed results and runs what is due."""
        self._keep(self._until_taken(lambda refused: self._task.advance_time(to_ms, refused)))
        self._work()
        self._transform()

    def snapshot(self) -> list[tuple[str, bytes, bytes]]:
        """Returns the whole state, for `restore` of another driver of the same topology."""
        return list(self._task.state.items())

    def restore(self, snapshot: Iterable[tuple[str, bytes, bytes]]) -> None:
        self._task.state.clear()
        self._task.state.load(snapshot)

    def take_changes(self) -> list[Delta]:
        """Returns the changes to the state since the last call: (store, key, value or None)."""
        return self._task.state.take_changes()

    def load_changes(self, changes: Iterable[Delta]) -> None:
        self._task.state.load(changes)

    def close(self) -> None:
        """Does nothing, as nothing is held open. It exists for `with`."""

    def __enter__(self) -> "TopologyTestDriver":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _enqueue(
        self, topic: str, key: bytes | None, value: bytes | None, time_ms: int, headers: Headers
    ) -> None:
        offset = self._offsets.get(topic, 0)
        self._offsets[topic] = offset + 1
        columns = Columns(topic, 0, [offset], [time_ms], [key], [value], [headers])
        if topic in self._globals:
            self._task.apply_global([columns])
            return
        queue = self._pending.setdefault(topic, deque())
        queue.append(columns)
        if len(queue) == 1:
            self._heads.offer(time_ms, topic)

    def _work(self) -> None:
        """Yields one record at a time, from the topic whose next record is oldest."""
        while self._heads:
            topic = self._heads.poll()
            queue = self._pending[topic]
            columns = queue.popleft()
            if queue:
                self._heads.offer(queue[0].timestamps_ms[0], topic)
            self._apply([columns])

    def _transform(self) -> None:
        """Runs the functions of DataFrames over what was written for them, until nothing more is."""
        while todo := [topic for topic, records in self._to_transform.items() if records]:
            for topic in todo:
                records, self._to_transform[topic] = self._to_transform[topic], []
                first = self._offsets.get(topic, 0)
                self._offsets[topic] = first + len(records)
                columns = Columns(
                    topic,
                    0,
                    range(first, first + len(records)),
                    [one.timestamp_ms for one in records],
                    [one.key for one in records],
                    [one.value for one in records],
                    [one.headers for one in records],
                    [one.order_ms for one in records],
                )
                self._keep(Outputs(self._transforms[topic](columns)))
            self._work()

    def _apply(self, batch: list[Columns]) -> None:
        self._keep(self._until_taken(lambda refused: self._task.apply(batch, self._now_ms, refused)))

    def _until_taken(self, run: Callable[[dict[Any, str]], Outputs]) -> Outputs:
        """As a host does: reports records the broker rejects to the task, which runs the batch again from its start."""
        refused: dict[Any, str] = {}
        while True:
            before = self.snapshot() if self._refuse else []
            outputs = run(refused)
            found = {
                (one.topic, one.key, one.value, one.timestamp_ms): reason
                for one in outputs.records
                if self._refuse is not None and (reason := self._refuse(one)) is not None
            }
            if not found:
                return outputs
            refused |= found
            self.restore(before)

    def _keep(self, outputs: Outputs) -> None:
        self.dead += outputs.dead
        for cause, more in outputs.dropped.items():
            dropped = self.dropped.setdefault(cause, Dropped())
            dropped.count += more.count
            dropped.late_ms_max = max(dropped.late_ms_max, more.late_ms_max)
        for record in outputs.records:
            self._written.setdefault(record.topic, deque()).append(record)
            if record.topic in self._to_transform:
                self._to_transform[record.topic].append(record)
            elif record.topic in self._sources:
                self._enqueue(record.topic, record.key, record.value, record.timestamp_ms, record.headers)

    def _serdes(self, topic: str) -> tuple[Serde, Serde]:
        found = self._sources.get(topic) or self._sinks.get(topic) or self._chosen
        if found is None:
            known = sorted({*self._sources, *self._sinks})
            raise ConfigError(f"the topology has no topic {topic!r}; it has {', '.join(known)}")
        return found


def _serdes_of_sources(topology: Topology) -> dict[str, tuple[Serde, Serde]]:
    serdes: dict[str, tuple[Serde, Serde]] = {}
    for node in topology.nodes:
        if isinstance(node, Source):
            serdes.update({topic: (node.key_serde, node.value_serde) for topic in node.topics})
        elif isinstance(node, GlobalTable):
            serdes[node.topic] = (node.key_serde, node.value_serde)
    return serdes


def _serdes_of_sinks(topology: Topology) -> dict[str, tuple[Serde, Serde]]:
    return {
        node.topic: (node.key_serde, node.value_serde)
        for node in topology.nodes
        if isinstance(node, Sink) and node.topic is not None
    }


def _transforms(topology: Topology, spark: Any) -> dict[str, Callable[[Columns], list[OutputRecord]]]:
    """By the topics they read."""
    if spark is None:
        for node in transforms_of(topology.nodes):
            raise ConfigError(
                f"{node.where}: transform {node.name} is a function of Spark's DataFrames, and this driver has no "
                "Spark: TopologyTestDriver(topology, spark=session) runs it"
            )
        return {}
    from moldau.pipeline.spark.transforms.local import transform_locally

    return {part.source_topics[0]: transform_locally(spark, part) for part in topology.transform_parts}


def _serdes_of_choosing_sink(topology: Topology) -> tuple[Serde, Serde] | None:
    """For a sink that chooses its topic per record: any topic not known otherwise may be one of its topics."""
    chosen = (node for node in topology.nodes if isinstance(node, Sink) and node.topic is None)
    return next(((node.key_serde, node.value_serde) for node in chosen), None)
