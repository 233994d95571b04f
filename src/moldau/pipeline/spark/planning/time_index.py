"""Asks the brokers for the first offset at or after a time.

A broker's time index finds the first such record of the whole log. If that is before the application's position (an
earlier record has a later timestamp), a binary search over the records after the position finds the offset.
"""

from collections.abc import Iterator
from typing import Final

from confluent_kafka import Consumer, IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.pipeline.spark.clients import ClientSettings, shared
from moldau.pipeline.spark.positions import Positions, ranges_between
from moldau.pipeline.spark.topic_offsets import ANSWER_S_MAX

LOOK_S_MAX: Final = 10.0
LOOKED_AT_MAX: Final = 10_000


class TimeIndex:
    def __init__(self, admin: AdminClient, servers: str, settings: ClientSettings) -> None:
        self._admin = admin
        self._servers, self._settings = servers, settings
        self._consumer: Consumer | None = None
        self._looked_at: dict[tuple[str, int, int], int | None] = {}

    def first_at(self, time_ms: int, starts: Positions, ends: Positions) -> Positions:
        answers = self._ask(time_ms, starts, ends)
        found: Positions = {topic: dict(partitions) for topic, partitions in starts.items()}
        for one in ranges_between(starts, ends):
            offset, _ = answers.get((one.topic, one.partition), (one.end_offset, -1))
            if offset < 0 or offset > one.end_offset:
                offset = one.end_offset
            elif offset < one.start_offset:
                offset = self._search(one.topic, one.partition, one.start_offset, one.end_offset, time_ms)
            found.setdefault(one.topic, {})[one.partition] = offset
        return found

    def oldest_ms(self, starts: Positions, ends: Positions) -> int:
        """The oldest first record of the logs, which is older than the unread ones."""
        times = [time_ms for _, time_ms in self._ask(0, starts, ends).values() if time_ms >= 0]
        return min(times, default=0)

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def _ask(
        self, time_ms: int, starts: Positions, ends: Positions
    ) -> dict[tuple[str, int], tuple[int, int]]:
        """Offset and timestamp of the first record at or after a time, for partitions that have one."""
        asked = {
            TopicPartition(one.topic, one.partition): OffsetSpec.for_timestamp(max(0, time_ms))
            for one in ranges_between(starts, ends)
            if one.end_offset > one.start_offset
        }
        if not asked:
            return {}
        answers = self._admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=ANSWER_S_MAX
        )
        told = {}
        for place, future in answers.items():
            answer = future.result(ANSWER_S_MAX)
            told[place.topic, place.partition] = (answer.offset, answer.timestamp)
        return told

    def _search(self, topic: str, partition: int, start: int, end: int, time_ms: int) -> int:
        low, high = start, end
        while low < high:
            middle = (low + high) // 2
            found_ms = self._time_at(topic, partition, middle, end)
            if found_ms is None or found_ms >= time_ms:
                high = middle
            else:
                low = middle + 1
        return low

    def _time_at(self, topic: str, partition: int, offset: int, end: int) -> int | None:
        """The timestamp of the first record at or after an offset. None if there is none before the end."""
        known = (topic, partition, offset)
        if known not in self._looked_at:
            if len(self._looked_at) >= LOOKED_AT_MAX:
                self._looked_at.clear()
            self._looked_at[known] = next(self._times_from(topic, partition, offset, end), None)
        return self._looked_at[known]

    def _times_from(self, topic: str, partition: int, offset: int, end: int) -> Iterator[int]:
        if self._consumer is None:
            self._consumer = Consumer(
                {
                    **shared(self._servers, self._settings),
                    "group.id": "moldau-time-index",
                    "enable.auto.commit": "false",
                    "enable.partition.eof": "true",
                    "auto.offset.reset": "earliest",
                    "isolation.level": "read_committed",
                    "fetch.message.max.bytes": "65536",
                    "queued.min.messages": "1",
                }
            )
        self._consumer.assign([TopicPartition(topic, partition, offset)])
        try:
            message = self._consumer.poll(LOOK_S_MAX)
            if message is not None and message.error() is None and (message.offset() or 0) < end:
                yield message.timestamp()[1]
        finally:
            self._consumer.unassign()
