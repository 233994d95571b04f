"""One query as one task over one partition. Its internal topics are queues; what it writes is returned."""

from collections import deque

from moldau.pipeline.operators.records import NO_HEADERS, Columns, Headers, OutputRecord
from moldau.pipeline.operators.task import Task
from moldau.pipeline.operators.topic_heads import TopicHeads
from moldau.pipeline.plan.topology import Topology


class LocalRun:
    def __init__(self, topology: Topology) -> None:
        self._task = Task(topology, topology.whole, 0, on_error="dead_letter")
        self._sources = set(topology.whole.source_topics)
        self._internal = self._sources & set(topology.internal_topics)
        self._pending: dict[str, deque[Columns]] = {}
        self._heads = TopicHeads()
        self._offsets: dict[str, int] = {}
        self.positions: dict[str, int] = {}
        """Of each topic it reads from outside: how many records it has taken."""
        self.dead: list[str] = []
        """Why records could not be processed."""

    @property
    def topics(self) -> set[str]:
        """What it reads from outside."""
        return self._sources - self._internal

    def take(
        self,
        topic: str,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        timestamp_ms: int,
        headers: Headers = NO_HEADERS,
    ) -> list[OutputRecord]:
        """Processes one record and all that follows from it."""
        self._offer(Columns(topic, 0, [offset], [timestamp_ms], [key], [value], [headers]))
        written: list[OutputRecord] = []
        while self._heads:
            outputs = self._task.apply([self._next()], 0)
            self.dead += [dead.reason for dead in outputs.dead]
            for record in outputs.records:
                if record.topic in self._internal:
                    self._offer_own(record)
                else:
                    written.append(record)
        return written

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
