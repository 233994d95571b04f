"""One partition of a fake cluster: records in memory, including transaction markers, as in a broker's log."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import TIMESTAMP_CREATE_TIME, Message, version

Headers = Sequence[tuple[str, bytes | None]]
PartitionKey = tuple[str, int]
"""Topic and partition."""


def require_messages() -> None:
    """Before 2.13 only confluent-kafka's own clients could create a Message."""
    try:
        Message()
    except TypeError as error:
        words = (
            "the fake clients need confluent-kafka 2.13 or newer, this is {}: upgrade it, or use LocalCluster"
        )
        raise RuntimeError(words.format(version()[0])) from error


@dataclass(eq=False)
class FakeTransaction:
    """A transaction. `is_committed` is None while it is open."""

    is_committed: bool | None = None
    logs: "dict[PartitionKey, FakeLog]" = field(default_factory=dict)
    offsets: dict[str, dict[PartitionKey, int]] = field(default_factory=dict)
    """The offsets it will commit, by group."""


@dataclass(frozen=True)
class Entry:
    offset: int
    timestamp_ms: int
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers | None = None
    transaction: FakeTransaction | None = None
    is_marker: bool = False


class FakeLog:
    def __init__(self, topic: str, partition: int) -> None:
        self.topic: Final = topic
        self.partition: Final = partition
        self.start = 0
        self._entries: list[Entry] = []

    @property
    def partition_key(self) -> PartitionKey:
        return self.topic, self.partition

    @property
    def end(self) -> int:
        return len(self._entries)

    @property
    def stable_end(self) -> int:
        """The start of the first open transaction; read_committed consumers read up to there."""
        for entry in self._entries:
            if entry.transaction is not None and entry.transaction.is_committed is None:
                return entry.offset
        return self.end

    def visible_end(self, is_committed_only: bool) -> int:
        return self.stable_end if is_committed_only else self.end

    def append(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Headers | None,
        timestamp_ms: int,
        transaction: FakeTransaction | None,
    ) -> Entry:
        entry = Entry(self.end, timestamp_ms, key, value, headers, transaction)
        self._entries.append(entry)
        if transaction is not None:
            transaction.logs[self.partition_key] = self
        return entry

    def end_transaction(self, transaction: FakeTransaction, timestamp_ms: int) -> None:
        """The marker takes an offset, as it does in Kafka."""
        self._entries.append(Entry(self.end, timestamp_ms, transaction=transaction, is_marker=True))

    def read(self, offset: int, is_committed_only: bool) -> Entry | None:
        """The first record from `offset` on that a consumer gets."""
        for entry in self._entries[max(offset, self.start) : self.visible_end(is_committed_only)]:
            aborted = entry.transaction is not None and entry.transaction.is_committed is False
            if not entry.is_marker and not (is_committed_only and aborted):
                return entry
        return None

    def offset_at(self, timestamp_ms: int, is_committed_only: bool) -> int | None:
        """The offset of the first record with this timestamp or a later one."""
        for entry in self._entries[self.start : self.visible_end(is_committed_only)]:
            if not entry.is_marker and entry.timestamp_ms >= timestamp_ms:
                return entry.offset
        return None

    def message(self, entry: Entry) -> Message:
        return Message(
            topic=self.topic,
            partition=self.partition,
            offset=entry.offset,
            key=entry.key,
            value=entry.value,
            headers=list(entry.headers) if entry.headers else None,
            timestamp=(TIMESTAMP_CREATE_TIME, entry.timestamp_ms),
            leader_epoch=0,
        )
