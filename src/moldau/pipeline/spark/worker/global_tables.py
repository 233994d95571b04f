"""Updates the global tables of a slot's tasks: each task reads every partition of the table's topic, first all of it,
then the new records. They are not part of the batch: as in Kafka Streams, a stream joins the current table.
"""

import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient

from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.clients import ClientSettings, shared
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.orders import TaskId
from moldau.pipeline.spark.positions import OffsetRange, Positions
from moldau.pipeline.spark.topic_offsets import end_offsets, first_offsets, topic_facts
from moldau.pipeline.spark.worker.range_reader import RangeReader

LOOK_EVERY_S: Final = 0.5


class GlobalTables:
    def __init__(self, topology: Topology, servers: str, settings: ClientSettings, group: str) -> None:
        self._topology = topology
        self._topics = [table.topic for table in topology.global_tables]
        self._read: dict[TaskId, Positions] = {}
        self._looked_at: dict[TaskId, float] = {}
        if self._topics:
            self._admin = AdminClient(shared(servers, settings))
            self._consumer = Consumer(consumer_settings(servers, settings, group))
            self._reader = RangeReader(self._consumer)

    def update(self, task_id: TaskId, task: Task) -> None:
        """Brings the tables of a task up to date."""
        topics = {table.topic for table in self._topology.globals_of(task.part)}
        now = time.monotonic()
        if not topics or now - self._looked_at.get(task_id, -LOOK_EVERY_S) < LOOK_EVERY_S:
            return
        counts = {topic: facts.partitions for topic, facts in topic_facts(self._admin, topics).items()}
        read = self._read.get(task_id)
        if read is None:
            read = self._read[task_id] = first_offsets(self._admin, counts)
        ranges = _news(read, end_offsets(self._admin, counts))
        if ranges:
            task.apply_global(self._reader.read(ranges))
        for one in ranges:
            read[one.topic][one.partition] = one.end_offset
        self._looked_at[task_id] = now

    def close(self) -> None:
        if self._topics:
            self._consumer.close()


def _news(read: Positions, ends: Mapping[str, Mapping[int, int]]) -> list[OffsetRange]:
    return [
        OffsetRange(topic, partition, read.setdefault(topic, {}).setdefault(partition, 0), end)
        for topic, partitions in ends.items()
        for partition, end in partitions.items()
        if end > read.get(topic, {}).get(partition, 0)
    ]
