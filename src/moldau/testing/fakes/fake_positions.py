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
from moldau.testing.fakes.fake_log import FakeLog, Place

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


def places_of(partitions: Iterable[TopicPartition]) -> list[Place]:
    return [(each.topic, each.partition) for each in partitions]


class FakePositions:
    def __init__(self, kafka: "FakeKafka", group: FakeGroup, config: Mapping[str, Any]) -> None:
        self._kafka = kafka
        self._group = group
        self._reset = _RESETS.get(str(config.get("auto.offset.reset", "latest")))
        """None: the application wants an error."""
        self._is_committed_only = config.get("isolation.level", "read_committed") == "read_committed"
        self._tells_ends = str(config.get("enable.partition.eof", False)).lower() == "true"
        self._next: dict[Place, int] = {}
        """The offset to continue from; negative when it is not known yet."""
        self._told_ends: set[Place] = set()
        self._stuck: set[Place] = set()
        self._turn = 0
        self.read: dict[Place, int] = {}
        """One past the last record returned."""
        self.stored: dict[Place, int] = {}
        self.paused: set[Place] = set()

    @property
    def assigned(self) -> list[Place]:
        return sorted(self._next)

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self.clear()
        self.add(partitions)

    def add(self, partitions: Sequence[TopicPartition]) -> None:
        self._next.update({(each.topic, each.partition): each.offset for each in partitions})

    def clear(self) -> None:
        self.remove(self.assigned)

    def remove(self, places: Iterable[Place]) -> None:
        for place in list(places):
            for known in (self._next, self.read, self.stored):
                known.pop(place, None)
            for marks in (self._told_ends, self._stuck, self.paused):
                marks.discard(place)

    def seek(self, partition: TopicPartition) -> None:
        place = partition.topic, partition.partition
        if place not in self._next:
            words = f"Failed to seek to offset {partition.offset}: Local: Erroneous state"
            raise KafkaException(KafkaError(KafkaError._STATE, words))
        self._next[place] = partition.offset
        self._told_ends.discard(place)
        self._stuck.discard(place)

    def next_message(self, stores: bool) -> Message | None:
        """Returns a record, an error or the end of a partition, from each partition in turn."""
        places = self.assigned
        for step in range(len(places)):
            place = places[(self._turn + step) % len(places)]
            log = self._kafka.log(place)
            if log is None or place in self.paused or place in self._stuck:
                continue
            message = self._of(place, log)
            if message is not None:
                self._turn = (self._turn + step + 1) % len(places)
                if message.error() is None and stores:
                    self.stored[place] = self._next[place]
                return message
        return None

    def _of(self, place: Place, log: FakeLog) -> Message | None:
        offset = self._resolved(place, log)
        if offset is None:
            self._stuck.add(place)
            words = "no previously committed offset available: Local: No offset stored"
            return _error(place, KafkaError(KafkaError._AUTO_OFFSET_RESET, words))
        self._next[place] = offset
        entry = log.read(offset, self._is_committed_only)
        if entry is not None:
            self._next[place] = self.read[place] = entry.offset + 1
            self._told_ends.discard(place)
            return log.message(entry)
        if self._tells_ends and place not in self._told_ends:
            self._told_ends.add(place)
            return _error(
                place, KafkaError(KafkaError._PARTITION_EOF), log.visible_end(self._is_committed_only)
            )
        return None

    def _resolved(self, place: Place, log: FakeLog) -> int | None:
        """None: there is no offset, and auto.offset.reset makes that an error."""
        offset: int | None = self._next[place]
        if offset in (OFFSET_INVALID, OFFSET_STORED):
            offset = self._group.offsets.get(place, self._reset)
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


def _error(place: Place, error: KafkaError, offset: int = OFFSET_INVALID) -> Message:
    return Message(topic=place[0], partition=place[1], offset=offset, error=error)
