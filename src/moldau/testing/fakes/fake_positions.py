"""The position of a fake consumer in each of its partitions, and what it reads next."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    OFFSET_STORED,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from moldau.testing.fakes.fake_group import FakeGroup
from moldau.testing.fakes.fake_log import FakeLog, PartitionKey

if TYPE_CHECKING:
    from moldau.testing.fakes.fake_kafka import FakeKafka

TAIL_BASE = -2000
"""librdkafka's OFFSET_TAIL(n) is this value minus n."""
_RESETS = {
    "earliest": OFFSET_BEGINNING,
    "smallest": OFFSET_BEGINNING,
    "beginning": OFFSET_BEGINNING,
    "latest": OFFSET_END,
    "largest": OFFSET_END,
    "end": OFFSET_END,
}


def partition_keys_of(partitions: Iterable[TopicPartition]) -> list[PartitionKey]:
    return [(each.topic, each.partition) for each in partitions]


class FakePositions:
    def __init__(self, kafka: "FakeKafka", group: FakeGroup, config: Mapping[str, Any]) -> None:
        self._kafka = kafka
        self._group = group
        self._reset = _RESETS.get(str(config.get("auto.offset.reset", "latest")))
        """None: the application wants an error."""
        self._is_committed_only = config.get("isolation.level", "read_committed") == "read_committed"
        self._tells_ends = str(config.get("enable.partition.eof", False)).lower() == "true"
        self._next: dict[PartitionKey, int] = {}
        """The offset to continue from; negative when it is not known yet."""
        self._told_ends: set[PartitionKey] = set()
        self._stuck: set[PartitionKey] = set()
        self._turn = 0
        self.read: dict[PartitionKey, int] = {}
        """One past the last record returned."""
        self.stored: dict[PartitionKey, int] = {}
        self.paused: set[PartitionKey] = set()

    @property
    def assigned(self) -> list[PartitionKey]:
        return sorted(self._next)

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self.clear()
        self.add(partitions)

    def add(self, partitions: Sequence[TopicPartition]) -> None:
        self._next.update({(each.topic, each.partition): each.offset for each in partitions})

    def clear(self) -> None:
        self.remove(self.assigned)

    def remove(self, partition_keys: Iterable[PartitionKey]) -> None:
        for partition_key in list(partition_keys):
            for known in (self._next, self.read, self.stored):
                known.pop(partition_key, None)
            for marks in (self._told_ends, self._stuck, self.paused):
                marks.discard(partition_key)

    def seek(self, partition: TopicPartition) -> None:
        partition_key = partition.topic, partition.partition
        if partition_key not in self._next:
            words = f"Failed to seek to offset {partition.offset}: Local: Erroneous state"
            raise KafkaException(KafkaError(KafkaError._STATE, words))
        self._next[partition_key] = partition.offset
        self._told_ends.discard(partition_key)
        self._stuck.discard(partition_key)

    def next_message(self, stores: bool) -> Message | None:
        """Returns a record, an error or the end of a partition, from each partition in turn."""
        partition_keys = self.assigned
        for step in range(len(partition_keys)):
            partition_key = partition_keys[(self._turn + step) % len(partition_keys)]
            log = self._kafka.log(partition_key)
            if log is None or partition_key in self.paused or partition_key in self._stuck:
                continue
            message = self._of(partition_key, log)
            if message is not None:
                self._turn = (self._turn + step + 1) % len(partition_keys)
                if message.error() is None and stores:
                    self.stored[partition_key] = self._next[partition_key]
                return message
        return None

    def _of(self, partition_key: PartitionKey, log: FakeLog) -> Message | None:
        offset = self._resolved(partition_key, log)
        if offset is None:
            self._stuck.add(partition_key)
            words = "no previously committed offset available: Local: No offset stored"
            return _error(partition_key, KafkaError(KafkaError._AUTO_OFFSET_RESET, words))
        self._next[partition_key] = offset
        entry = log.read(offset, self._is_committed_only)
        if entry is not None:
            self._next[partition_key] = self.read[partition_key] = entry.offset + 1
            self._told_ends.discard(partition_key)
            return log.message(entry)
        if self._tells_ends and partition_key not in self._told_ends:
            self._told_ends.add(partition_key)
            return _error(
                partition_key, KafkaError(KafkaError._PARTITION_EOF), log.visible_end(self._is_committed_only)
            )
        return None

    def _resolved(self, partition_key: PartitionKey, log: FakeLog) -> int | None:
        """None: there is no offset, and auto.offset.reset makes that an error."""
        offset: int | None = self._next[partition_key]
        if offset in (OFFSET_INVALID, OFFSET_STORED):
            offset = self._group.offsets.get(partition_key, self._reset)
        elif offset is not None and offset <= TAIL_BASE:
            offset = max(log.start, self._end(log) - (TAIL_BASE - offset))
        if offset is not None and offset >= 0 and not log.start <= offset <= log.end:
            offset = self._reset
        if offset == OFFSET_BEGINNING:
            return log.start
        return self._end(log) if offset == OFFSET_END else offset

    def _end(self, log: FakeLog) -> int:
        return log.visible_end(self._is_committed_only)

    def at_time(self, wanted: TopicPartition) -> TopicPartition:
        log = self._kafka.log((wanted.topic, wanted.partition))
        found = None if log is None else log.offset_at(wanted.offset, self._is_committed_only)
        return TopicPartition(wanted.topic, wanted.partition, OFFSET_END if found is None else found)

    def watermarks(self, partition: TopicPartition) -> tuple[int, int]:
        log = self._kafka.log((partition.topic, partition.partition))
        if log is None:
            words = "Failed to get watermark offsets: Local: Unknown partition"
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION, words))
        return log.start, self._end(log)


def _error(partition_key: PartitionKey, error: KafkaError, offset: int = OFFSET_INVALID) -> Message:
    return Message(topic=partition_key[0], partition=partition_key[1], offset=offset, error=error)
