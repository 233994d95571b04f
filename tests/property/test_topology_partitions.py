"""The same topology as one task, and as a task for each sub-topology and partition: the same tables in the end."""

import random
import zlib
from collections import defaultdict, deque
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moldau.pipeline.operators.records import Columns, OutputRecord
from moldau.pipeline.operators.task import Task
from moldau.pipeline.streams import STRING, StreamsBuilder, Topology
from moldau.testing import TopologyTestDriver

PARTITIONS = 3
Update = tuple[str, str, str | None]


def plus(left: str | None, right: str | None) -> str:
    return f"{left}+{right}"


def foreign(value: str) -> str | None:
    return None if value.startswith("c") else value[:1]


def topology() -> Topology:
    builder = StreamsBuilder("app", value=STRING)
    left, right = builder.table("left"), builder.table("right")
    left.outer_join(right, plus, value=STRING).to_stream().to("outer")
    left.join(right, plus, foreign_key=foreign, value=STRING).to_stream().to("foreign")
    left.left_join(right, plus, foreign_key=foreign, value=STRING).to_stream().to("foreign-left")
    left.group_by(lambda key, value: (value, value)).count(store="sizes").to_stream().to("sizes")
    lookups = (
        left.to_stream().filter(lambda key, value: value is not None).select_key(lambda key, value: value[:1])
    )
    lookups.group_by_key().count(store="seen").to_stream().to("seen")
    return builder.build({"left": PARTITIONS, "right": PARTITIONS})


class Partitioned:
    """Hosts one task per sub-topology and partition, and carries records between them until nothing moves."""

    def __init__(self, topology: Topology) -> None:
        self.tasks = [
            (part.source_topics, partition, Task(topology, part, partition))
            for part in topology.sub_topologies
            for partition in range(PARTITIONS)
        ]
        self.offsets: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.written: defaultdict[str, dict[Any, Any]] = defaultdict(dict)

    def send(self, record: OutputRecord) -> None:
        waiting = [record]
        while waiting:
            record = waiting.pop(0)
            waiting += self.delivered(record, self.partition_of(record))

    def send_with_delays(self, records: list[OutputRecord], seed: int) -> None:
        """Only the order within a partition of a topic is kept."""
        chooser = random.Random(seed)
        waiting: defaultdict[tuple[str, int], deque[OutputRecord]] = defaultdict(deque)
        while records:
            for record in records:
                waiting[record.topic, self.partition_of(record)].append(record)
            records = []
            while not records and (busy := sorted(place for place, queue in waiting.items() if queue)):
                place = chooser.choice(busy)
                records = self.delivered(waiting[place].popleft(), place[1])

    def partition_of(self, record: OutputRecord) -> int:
        if record.partition is not None:
            return record.partition
        return zlib.crc32(record.key or b"") % PARTITIONS

    def delivered(self, record: OutputRecord, partition: int) -> list[OutputRecord]:
        """Returns what the tasks write."""
        self.written[record.topic][record.key] = record.value
        self.offsets[record.topic, partition] += 1
        found: list[OutputRecord] = []
        for topics, own_partition, task in self.tasks:
            if record.topic in topics and partition == own_partition:
                columns = Columns(
                    record.topic,
                    partition,
                    [self.offsets[record.topic, partition]],
                    [record.timestamp_ms],
                    [record.key],
                    [record.value],
                )
                found += task.apply([columns], 0).records
        return found


updates = st.lists(
    st.tuples(
        st.sampled_from(["left", "right"]),
        st.sampled_from("abcdef"),
        st.sampled_from([None, "a1", "b2", "c4", "c5", "f3"]),
    ),
    max_size=40,
)

updates_of_few_rows = st.lists(
    st.tuples(
        st.sampled_from(["left", "left", "right"]),
        st.sampled_from("ab"),
        st.sampled_from([None, "a1", "b2", "c4", "c5"]),
    ),
    min_size=10,
    max_size=40,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(updates=updates)
def test_partitions_make_no_difference_in_the_end(updates: list[Update]) -> None:
    plan = topology()
    spread = Partitioned(plan)
    with TopologyTestDriver(plan) as driver:
        for time_ms, (topic, key, value) in enumerate(updates):
            driver.pipe(topic, key, value, time_ms)
            data = None if value is None else value.encode()
            spread.send(OutputRecord(topic, None, time_ms, key.encode(), data))
        for topic in ("outer", "foreign", "foreign-left", "sizes", "seen"):
            expected = {record.key: record.value for record in driver.read_bytes(topic)}
            assert spread.written[topic] == expected, topic


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(updates=updates_of_few_rows, seed=st.integers(0, 1_000))
def test_delays_between_tasks_make_no_difference_in_the_end(updates: list[Update], seed: int) -> None:
    plan = topology()
    spread = Partitioned(plan)
    records = [
        OutputRecord(topic, None, time_ms, key.encode(), None if value is None else value.encode())
        for time_ms, (topic, key, value) in enumerate(updates)
    ]
    spread.send_with_delays(records, seed)
    with TopologyTestDriver(plan) as driver:
        for time_ms, (topic, key, value) in enumerate(updates):
            driver.pipe(topic, key, value, time_ms)
        for topic in ("outer", "foreign", "foreign-left", "sizes"):
            expected = {record.key: record.value for record in driver.read_bytes(topic)}
            found = spread.written[topic]
            assert without_tombstones(found) == without_tombstones(expected), topic


def without_tombstones(rows: dict[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in rows.items() if value is not None}
