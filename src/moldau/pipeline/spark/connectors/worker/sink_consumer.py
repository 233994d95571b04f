"""The consumer of a sink's task: a member of the connector's group, which tells when partitions come and go.

Owns what has been read of each partition, and what is committed. Offsets are committed only by `commit`.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as Place

from moldau.pipeline.connect.api import TopicPartition
from moldau.pipeline.connect.runtime.task_settings import SinkSettings
from moldau.pipeline.spark.connectors.worker.topics import Topics

LOOK_FOR_TOPICS_S: Final = 10.0
SEEK_S_MAX: Final = 10.0
PATIENT_S: Final = 0.1
_LATER: Final = frozenset(
    {
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError._NO_OFFSET,
        KafkaError._WAIT_COORD,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
        KafkaError._TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError.REQUEST_TIMED_OUT,
    }
)
"""A commit that fails with these is made again with the next one, or the partition belongs to another task."""

log = logging.getLogger(__name__)

Partitions = Sequence[TopicPartition]


class SinkConsumer:
    """`opened` answers from where to read partitions, `closing` is called while they still belong to the task, `lost`
    afterwards. Exceptions of these are raised by `read`."""

    def __init__(
        self,
        config: Mapping[str, Any],
        settings: SinkSettings,
        topics: Topics,
        *,
        opened: Callable[[Partitions], Mapping[TopicPartition, int]],
        closing: Callable[[Partitions], None],
        lost: Callable[[Partitions], None],
    ) -> None:
        self._consumer = Consumer(dict(config))
        self._settings = settings
        self._topics = topics
        self._opened, self._closing, self._lost = opened, closing, lost
        self._subscribed: list[str] = []
        self._looked_at = -LOOK_FOR_TOPICS_S
        self._failure: BaseException | None = None
        self.assigned: set[TopicPartition] = set()
        self.ends: dict[TopicPartition, int] = {}
        """Behind the last record read, of the partitions that are assigned."""
        self._committed: dict[TopicPartition, int] = {}
        self.is_closed = False

    def read(self, count_max: int, timeout_s: float) -> dict[TopicPartition, list[Message]]:
        """In the order of each partition. May call back. Raises KafkaException for what does not pass by itself."""
        self._follow_topics()
        if not self._subscribed:
            time.sleep(timeout_s)
            return {}
        consume = self._consumer.consume
        messages = consume(count_max, 0)
        if not messages:
            # With a number, it waits until so many are there. One wakes it up.
            messages = consume(1, timeout_s)
            messages += consume(count_max - 1, 0) if messages and count_max > 1 else []
        self._raise_failure()
        if any([message.error() for message in messages]):
            messages = [message for message in messages if self._is_record(message)]
        found: dict[tuple[str | None, int | None], list[Message]] = {}
        for message in messages:
            place = message.topic(), message.partition()
            try:
                found[place].append(message)
            except KeyError:
                found[place] = [message]
        parts = {TopicPartition(*cast(tuple[str, int], place)): some for place, some in found.items()}
        self.ends |= {place: cast(int, some[-1].offset()) + 1 for place, some in parts.items()}
        if self.ends.keys() - self.assigned:
            self.ends = {place: end for place, end in self.ends.items() if place in self.assigned}
        return parts

    def wait_paused(self, timeout_s: float) -> None:
        """Stays a member of the group without reading. May call back."""
        places = _places(dict.fromkeys(self.assigned, 0))
        self._consumer.pause(places)
        try:
            message = self._consumer.poll(timeout_s)
            self._raise_failure()
            if message is not None and message.error() is None:
                # It had been fetched before the pause: read it again later.
                self.seek({TopicPartition(*_place_of(message)): cast(int, message.offset())})
        finally:
            kept = [one for one in places if TopicPartition(one.topic, one.partition) in self.assigned]
            if kept and not self.is_closed:
                self._consumer.resume(kept)

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        for place, offset in offsets.items():
            if place in self.assigned:
                self._seek(Place(place.topic, place.partition, offset))
                self.ends[place] = offset

    def _seek(self, place: Place) -> None:
        end = time.monotonic() + SEEK_S_MAX
        while True:
            try:
                self._consumer.seek(place)
            except KafkaException as failure:
                # A partition that has just been assigned is looked up first.
                if failure.args[0].code() != KafkaError._STATE or time.monotonic() > end:
                    raise
                time.sleep(PATIENT_S)
            else:
                return

    def commit(self, offsets: Mapping[TopicPartition, int]) -> str | None:
        """Only what changes. Returns why it could not be committed now; later is early enough."""
        new = {
            place: end
            for place, end in offsets.items()
            if place in self.assigned and self._committed.get(place) != end
        }
        if not new:
            return None
        try:
            self._consumer.commit(offsets=_places(new), asynchronous=False)
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() in _LATER or error.retriable():
                log.info("offsets are committed later: %s", error.str())
                return str(error.str())
            raise
        self._committed.update(new)
        return None

    def lag(self) -> int | None:
        """Records not read yet. None: not known."""
        if not self.assigned:
            return 0
        lag = 0
        for place in self.assigned:
            _, high = self._consumer.get_watermark_offsets(Place(*place), cached=True)
            if high < 0 or place not in self.ends:
                return None
            lag += max(0, high - self.ends[place])
        return lag

    def close(self) -> None:
        self.is_closed = True
        self._consumer.close()

    def _follow_topics(self) -> None:
        """Topics that match a pattern may be added at any time."""
        now = time.monotonic()
        if self._subscribed and (self._settings.topics or now - self._looked_at < LOOK_FOR_TOPICS_S):
            return
        if now - self._looked_at < LOOK_FOR_TOPICS_S / 10:
            return
        self._looked_at = now
        wanted = list(self._settings.topics)
        if not wanted:
            wanted = sorted(one for one in self._topics.all() if self._settings.takes(one))
        if wanted != self._subscribed:
            if not wanted:
                log.warning("no topic matches %s yet", self._settings.topics_regex)
            self._subscribed = wanted
            self._consumer.subscribe(
                wanted, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
            )

    def _is_record(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.code() == KafkaError._PARTITION_EOF:
            # Beyond markers of transactions, which are never delivered.
            place = TopicPartition(*_place_of(message))
            if place in self.assigned:
                self.ends[place] = max(self.ends.get(place, 0), cast(int, message.offset()))
            return False
        if error.fatal() or error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise KafkaException(error)
        log.warning("the consumer reports: %s", error.str())
        return False

    # Within `poll` and `close`

    def _on_assign(self, consumer: Consumer, places: list[Place]) -> None:
        partitions = [TopicPartition(one.topic, one.partition) for one in places]
        starts: Mapping[TopicPartition, int] = {}
        if partitions and not self.is_closed:
            self.assigned.update(partitions)
            starts = self._guarded(lambda: self._opened(partitions)) or {}
        for one in places:
            start = starts.get(TopicPartition(one.topic, one.partition))
            if start is not None:
                one.offset = start
                self.ends[TopicPartition(one.topic, one.partition)] = start
        consumer.incremental_assign(places)

    def _on_revoke(self, consumer: Consumer, places: list[Place]) -> None:
        partitions = [TopicPartition(one.topic, one.partition) for one in places]
        if partitions and not self.is_closed:
            self._guarded(lambda: self._closing(partitions))
        self._forget(partitions)
        consumer.incremental_unassign(places)

    def _on_lost(self, consumer: Consumer, places: list[Place]) -> None:
        partitions = [TopicPartition(one.topic, one.partition) for one in places]
        if partitions and not self.is_closed:
            self._guarded(lambda: self._lost(partitions))
        self._forget(partitions)
        consumer.incremental_unassign(places)

    def _forget(self, partitions: Partitions) -> None:
        self.assigned.difference_update(partitions)
        for place in partitions:
            self.ends.pop(place, None)
            self._committed.pop(place, None)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except BaseException as failure:  # noqa: BLE001 raised by `read`, outside of librdkafka's callback
            self._failure = self._failure or failure
            return None

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def _places(offsets: Mapping[TopicPartition, int]) -> list[Place]:
    return [Place(topic, partition, offset) for (topic, partition), offset in offsets.items()]


def _place_of(message: Message) -> tuple[str, int]:
    return cast(str, message.topic()), cast(int, message.partition())
