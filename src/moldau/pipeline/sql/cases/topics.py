"""Topics in memory, of one partition each as far as records go."""

from typing import NamedTuple

from moldau.pipeline.operators.records import NO_HEADERS, Headers


class StoredRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers = NO_HEADERS


class Topics:
    def __init__(self) -> None:
        self._records: dict[str, list[StoredRecord]] = {}
        self.partitions: dict[str, int] = {}
        """How many the statements say that each topic has."""
        self.order: list[str] = []
        """The topic of each record, in the order in which they came."""

    def records(self, topic: str) -> list[StoredRecord]:
        return self._records.setdefault(topic, [])

    def append(self, topic: str, record: StoredRecord) -> None:
        self.records(topic).append(record)
        self.order.append(topic)
