"""The changes of a batch as records for the changelog topics, with Kafka Streams' keys, values and timestamps."""

from collections.abc import Iterable, Iterator, Mapping

from moldau.pipeline.operators.records import OutputRecord
from moldau.pipeline.operators.state import Delta
from moldau.pipeline.operators.stores.keys import split_timed
from moldau.pipeline.operators.stores.versioned import split_version
from moldau.pipeline.operators.task import STREAM_TIME, Task
from moldau.pipeline.plan.stores import StoreKind
from moldau.pipeline.spark.orders import TaskId

TIMED: frozenset[StoreKind] = frozenset({StoreKind.KEY_VALUE, StoreKind.WINDOW})
"""Kinds whose values begin with their time. In the changelog, that is the record's timestamp."""


def changelog_records(
    topics: Mapping[str, str], task_id: TaskId, deltas: Iterable[Delta], task: Task
) -> Iterator[OutputRecord]:
    kinds = {spec.name: spec.kind for spec in task.part.stores}
    stream_time_ms = max(task.state.times.get(STREAM_TIME, 0), 0)
    for store, key, value in deltas:
        topic = topics.get(store)
        if topic is None:
            continue
        timestamp_ms = stream_time_ms
        if kinds[store] is StoreKind.VERSIONED:
            if value is None:
                # A version older than the history: readers drop it themselves, and the key has others.
                continue
            key, value, timestamp_ms = split_version(key, value)
        elif value is not None and kinds[store] in TIMED:
            value, timestamp_ms = split_timed(value)
        yield OutputRecord(topic, task_id.partition, max(timestamp_ms, 0), key, value)
