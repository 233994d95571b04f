"""Reads ranges of offsets from Kafka into columns. Each slot keeps one between batches, so that the records of the next
batch are fetched while the driver plans it.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, TopicPartition

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.spark.positions import OffsetRange

Place = tuple[str, int]
Message = Any
"""A received message. The client's type allows None for every field, which does not occur here."""

MESSAGES_PER_CALL: Final = 20_000
POLL_S: Final = 0.5
NOTHING_CAME_S_MAX: Final = 60.0
HELD_MESSAGES_MAX: Final = 200_000
"""Messages read beyond the range and kept for the next batch. With more, the partition is fetched again."""


class InputLost(MoldauError):
    """Records that the batch must read do not exist any more."""


class RangeReader:
    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._positions: dict[Place, int] = {}
        self._held: dict[Place, list[Message]] = {}
        self._end_seen: dict[Place, int] = {}

    def read(self, ranges: Iterable[OffsetRange]) -> list[Columns]:
        """One `Columns` for each range that has records, in the order of the ranges."""
        wanted = {(one.topic, one.partition): one for one in ranges if one.end_offset > one.start_offset}
        self._take_up(wanted)
        taken: dict[Place, list[Message]] = {}
        open_places = set()
        for place, one in wanted.items():
            taken[place] = self._held.pop(place, [])
            if not self._is_complete(place, one.end_offset, taken[place]):
                open_places.add(place)
        self._fetch(wanted, taken, open_places)
        for place, one in wanted.items():
            taken[place] = self._cut(place, one.end_offset, taken[place])
            self._positions[place] = one.end_offset
        return [_columns(place, messages) for place, messages in taken.items() if messages]

    def rest(self) -> None:
        """There is nothing to read for a while: stops fetching and drops what was prefetched."""
        if self._positions:
            self._consumer.unassign()
        self._positions.clear()
        self._held.clear()
        self._end_seen.clear()

    def _fetch(
        self, wanted: dict[Place, OffsetRange], taken: dict[Place, list[Message]], open_places: set[Place]
    ) -> None:
        last_came = time.monotonic()
        while open_places:
            first = self._consumer.poll(POLL_S)
            if first is None:
                if time.monotonic() - last_came > NOTHING_CAME_S_MAX:
                    places = ", ".join(f"{topic}-{partition}" for topic, partition in sorted(open_places)[:5])
                    raise InputLost(
                        f"received nothing from {places} within {NOTHING_CAME_S_MAX:.0f} s: is the broker running?"
                    )
                continue
            last_came = time.monotonic()
            touched = self._sort([first, *self._consumer.consume(MESSAGES_PER_CALL, 0)], taken)
            for place in touched & open_places:
                if self._is_complete(place, wanted[place].end_offset, taken[place]):
                    open_places.discard(place)

    def _sort(self, messages: list[Message], taken: dict[Place, list[Message]]) -> set[Place]:
        """Adds messages to the others of their partition. Holds those of partitions that are not wanted now."""
        errors = [message.error() for message in messages]
        if len(self._positions) == 1:
            places = list(self._positions) * len(messages)
        else:
            topics = [message.topic() for message in messages]
            places = list(zip(topics, [message.partition() for message in messages], strict=True))
        touched = set(places)
        if len(touched) == 1 and not any(errors):
            self._bucket(places[0], taken).extend(messages)
            return touched
        buckets = {place: self._bucket(place, taken) for place in touched}
        for message, place, error in zip(messages, places, errors, strict=True):
            if error is None:
                buckets[place].append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._end_seen[place] = max(self._end_seen.get(place, 0), message.offset())
            else:
                self._refuse(place, error)
        return touched

    def _bucket(self, place: Place, taken: dict[Place, list[Message]]) -> list[Message]:
        bucket = taken.get(place)
        return self._held.setdefault(place, []) if bucket is None else bucket

    def _refuse(self, place: Place, error: KafkaError) -> None:
        self._positions.clear()
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise InputLost(
                f"{place[0]}-{place[1]} no longer has the next records to read ({error.str()}): "
                "retention has deleted them. To start over with the remaining ones: moldau streams reset"
            )
        raise InputLost(f"{place[0]}-{place[1]} cannot be read: {error.str()}")

    def _is_complete(self, place: Place, end_offset: int, messages: list[Message]) -> bool:
        """The last offsets may be transaction markers, which are never delivered. Then the end of partition is."""
        if messages and messages[-1].offset() >= end_offset - 1:
            return True
        return self._end_seen.get(place, 0) >= end_offset

    def _cut(self, place: Place, end_offset: int, messages: list[Message]) -> list[Message]:
        """Keeps the messages beyond the range for the next batch."""
        if not messages or messages[-1].offset() < end_offset:
            return messages
        low, high = 0, len(messages)
        while low < high:
            middle = (low + high) // 2
            if messages[middle].offset() < end_offset:
                low = middle + 1
            else:
                high = middle
        self._held[place] = messages[low:]
        return messages[:low]

    def _take_up(self, wanted: dict[Place, OffsetRange]) -> None:
        """Continues where the last batch ended. Anything else needs a new assignment."""
        strayed = any(self._positions.get(place) != one.start_offset for place, one in wanted.items())
        if not strayed and sum(map(len, self._held.values())) <= HELD_MESSAGES_MAX:
            return
        self._positions.update((place, one.start_offset) for place, one in wanted.items())
        self._held.clear()
        self._end_seen.clear()
        self._consumer.assign(
            [
                TopicPartition(topic, partition, offset)
                for (topic, partition), offset in self._positions.items()
            ]
        )


def _columns(place: Place, messages: Sequence[Message]) -> Columns:
    headers = [message.headers() for message in messages]
    return Columns(
        place[0],
        place[1],
        [message.offset() for message in messages],
        [message.timestamp()[1] for message in messages],
        [message.key() for message in messages],
        [message.value() for message in messages],
        [tuple(one) if one else () for one in headers] if any(headers) else None,
    )
