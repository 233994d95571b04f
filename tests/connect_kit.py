"""Drives tasks of connectors as a worker would, without a worker: offsets in memory, and a list of reports."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from moldau.pipeline.connect.api import Offset, SinkTask, SourceTask, TopicPartition
from moldau.pipeline.connect.data.records import SinkRecord, SourceRecord

DEADLINE_S = 60.0


def eventually(is_true: Callable[[], Any], what: str) -> Any:
    """The first true answer. Fails after the deadline, with what was waited for."""
    end = time.monotonic() + DEADLINE_S
    while True:
        found = is_true()
        if found:
            return found
        assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
        time.sleep(0.02)


class StoredOffsets:
    """What a source task may ask of its worker. The offsets outlive the task, as those in Kafka do."""

    def __init__(self) -> None:
        self.stored: dict[str, Offset] = {}

    def offset(self, source_partition: Mapping[str, Any]) -> Offset | None:
        return self.stored.get(json.dumps(source_partition, sort_keys=True))

    def stopping(self) -> bool:
        return False

    def store(self, records: Iterable[SourceRecord]) -> None:
        """As a worker does, through JSON."""
        for one in records:
            if one.source_partition is not None:
                partition = json.dumps(one.source_partition, sort_keys=True)
                self.stored[partition] = json.loads(json.dumps(one.source_offset))


class Reports:
    """What a sink task may ask of its worker: keeps what it reports, and where it wants to begin again."""

    def __init__(self) -> None:
        self.failed: list[tuple[SinkRecord, Exception]] = []
        self.rewound: dict[TopicPartition, int] = {}

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.failed.append((record, error))

    def rewind(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.rewound.update(offsets)


def read(task: SourceTask, offsets: StoredOffsets, count: int) -> list[SourceRecord]:
    """At least `count` records of a started task, each poll committed."""
    found: list[SourceRecord] = []

    def are_there() -> bool:
        polled = task.poll()
        offsets.store(polled)
        if polled:
            task.committed()
        found.extend(polled)
        return len(found) >= count

    eventually(are_there, f"{count} records from {type(task).__name__}")
    return found


def write(task: SinkTask, records: Sequence[SinkRecord]) -> None:
    """Puts the records and flushes them."""
    task.put(records)
    ends = {TopicPartition(one.topic, one.partition or 0): one.offset + 1 for one in records}
    task.flush(ends)


def sink_record(topic: str, offset: int, key: Any, value: Any, **more: Any) -> SinkRecord:
    """A record of partition 0."""
    return SinkRecord(
        topic,
        key=key,
        value=value,
        partition=0,
        offset=offset,
        original_topic=topic,
        original_partition=0,
        timestamp_ms=1_700_000_000_000 + offset,
        **more,
    )
