"""Members of groups with confluent-kafka."""

import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from compat.confluent_client import failure_of, librdkafka_settings
from compat.groups.member import CLASSIC, Committed, Event, Got, Place, member_settings
from compat.groups.waiting import TIMEOUT_S

POLL_S = 0.02
Answer = TypeVar("Answer")


class ConfluentMember:
    def __init__(self, bootstrap: str, name: str, topics: Sequence[str], settings: Mapping[str, str]) -> None:
        self.name = name
        self.assignment: frozenset[Place] = frozenset()
        self.events: list[Event] = []
        self.got: list[Got] = []
        self.failures: list[str] = []
        self._is_open = True
        self._is_polling = True
        self._asked: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.consumer = Consumer(librdkafka_settings(bootstrap, settings))
        self.consumer.subscribe(
            list(topics), on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    @property
    def member_id(self) -> str:
        return self._ask(self.consumer.memberid) or ""

    def group_metadata(self) -> object:
        """What a transaction that commits this group's offsets says of it."""
        return self._ask(self.consumer.consumer_group_metadata)

    def commit(self, offsets: Mapping[Place, Committed]) -> None:
        wanted = [
            TopicPartition(topic, partition, offset, metadata)
            for (topic, partition), (offset, metadata) in offsets.items()
        ]
        outcome = self._ask(lambda: self.consumer.commit(offsets=wanted, asynchronous=False))
        for place in outcome or ():
            if place.error is not None:
                raise failure_of(place.error)

    def committed(self, places: Collection[Place]) -> dict[Place, Committed]:
        wanted = [TopicPartition(*place) for place in places]
        found = self._ask(lambda: self.consumer.committed(wanted, timeout=TIMEOUT_S))
        return {
            (place.topic, place.partition): (place.offset, place.metadata or "")
            for place in found
            if place.offset != OFFSET_INVALID
        }

    def stop_polling(self) -> None:
        self._is_polling = False

    def poll_again(self) -> None:
        self._is_polling = True

    def leave(self) -> None:
        if self._is_open:
            self._is_open = False
            self._thread.join()
            self.consumer.close()

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        """On the member's own thread: while that one polls, calls from another may never return."""
        answer: Future[Answer] = Future()

        def run() -> None:
            try:
                answer.set_result(question())
            except KafkaException as failure:
                answer.set_exception(failure_of(failure.args[0]))

        self._asked.put(run)
        return answer.result(TIMEOUT_S)

    def _live(self) -> None:
        while self._is_open:
            try:
                self._asked.get(block=not self._is_polling, timeout=POLL_S)()
            except queue.Empty:
                if self._is_polling:
                    self._poll()

    def _poll(self) -> None:
        message = self.consumer.poll(POLL_S)
        if message is None:
            return
        error = message.error()
        if error is None:
            place = (message.topic(), message.partition())
            self.got.append(Got(place, message.offset(), message.value()))
        elif error.code() != KafkaError._PARTITION_EOF:
            self.failures.append(failure_of(error).code)

    def _on_assign(self, _: Any, partitions: Sequence[TopicPartition]) -> None:
        places = _places(partitions)
        self.assignment |= places
        self.events.append(Event("assigned", places))

    def _on_revoke(self, _: Any, partitions: Sequence[TopicPartition]) -> None:
        self._give_up("revoked", partitions)

    def _on_lost(self, _: Any, partitions: Sequence[TopicPartition]) -> None:
        self._give_up("lost", partitions)

    def _give_up(self, kind: str, partitions: Sequence[TopicPartition]) -> None:
        places = _places(partitions)
        self.assignment -= places
        self.events.append(Event(kind, places))


class ConfluentLibrary:
    name = "confluent"
    assignors = {"range": "range", "roundrobin": "roundrobin", "cooperative-sticky": "cooperative-sticky"}

    def __init__(self, bootstrap: str, protocol: str = CLASSIC) -> None:
        self._bootstrap = bootstrap
        self.protocol = protocol

    def open(
        self, name: str, group: str, topics: Sequence[str], settings: Mapping[str, str]
    ) -> ConfluentMember:
        chosen = member_settings(name, group, self.protocol, settings)
        return ConfluentMember(self._bootstrap, name, topics, chosen)


def _places(partitions: Sequence[TopicPartition]) -> frozenset[Place]:
    return frozenset((partition.topic, partition.partition) for partition in partitions)
