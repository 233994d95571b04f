"""One consumer at the ends of all topics that are followed, shared by all live queries."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.queries.messages import Place, receive
from moldau.pipeline.sql.queries.reader import Reader
from moldau.pipeline.sql.queries.topics import deleted, partitions_now, topic_failure

POLL_S: Final = 0.2
CHECK_INTERVAL_S: Final = 3.0
FETCH_WAIT_MS: Final = 100
"""A topic that is new waits for the fetch that is under way."""


class Tail:
    def __init__(
        self,
        bootstrap_servers: str,
        settings: clients.ClientSettings,
        on_stopped: Callable[[Reader], None],
    ) -> None:
        """`on_stopped` is called for a reader that takes no more; it has left then."""
        self._on_stopped = on_stopped
        self._settings = clients.consumer(bootstrap_servers, settings, "moldau-sql-push", FETCH_WAIT_MS)
        self._lock = threading.Lock()
        self._positions: dict[Place, int] = {}
        """What is followed: the offset of the next record to come."""
        self._readers: dict[str, set[Reader]] = {}
        self._closing = threading.Event()
        self._consumer: Consumer | None = None
        self._thread: threading.Thread | None = None

    def join(self, reader: Reader) -> dict[Place, int]:
        """From now on the reader gets every batch of its topics. Returns the offsets at which they begin; what is not
        followed yet begins at the reader's position."""
        with self._lock:
            if self._closing.is_set():
                raise RuntimeError("the host is closed")
            new = {place: at for place, at in reader.positions.items() if place not in self._positions}
            if new:
                self._assign(new)
            for topic in reader.topics:
                self._readers.setdefault(topic, set()).add(reader)
            return {place: self._positions[place] for place in reader.positions}

    def leave(self, reader: Reader) -> None:
        with self._lock:
            for topic in reader.topics:
                self._readers.get(topic, set()).discard(reader)

    def close(self) -> None:
        with self._lock:
            self._closing.set()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _assign(self, new: Mapping[Place, int]) -> None:
        if self._consumer is None:
            self._consumer = Consumer(self._settings)
        self._consumer.incremental_assign([TopicPartition(*place, offset) for place, offset in new.items()])
        self._positions.update(new)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._follow, args=(self._consumer,), name="sql-push", daemon=True
            )
            self._thread.start()

    def _follow(self, consumer: Consumer) -> None:
        try:
            next_check_s = time.monotonic() + CHECK_INTERVAL_S
            while not self._closing.is_set():
                self._leave_unread_topics(consumer)
                if time.monotonic() > next_check_s:
                    self._check_topics(consumer)
                    next_check_s = time.monotonic() + CHECK_INTERVAL_S
                received = receive(consumer, POLL_S)
                if received is None:
                    continue
                for topic, error in received.failures.items():
                    for reader in self._readers_of(topic):
                        reader.fail(topic_failure(topic, error))
                for reader, batch in self._deliveries(received.batch).items():
                    if not reader.take_live(batch):
                        self.leave(reader)
                        self._on_stopped(reader)
        finally:
            consumer.close()

    def _check_topics(self, consumer: Consumer) -> None:
        """Ends the queries of deleted topics, and follows partitions that were added."""
        for topic, count in partitions_now(consumer, list(self._readers)).items():
            readers = self._readers_of(topic)
            if count == 0:
                for reader in readers:
                    reader.fail(deleted(topic))
                continue
            with self._lock:
                new = [(topic, number) for number in range(count) if (topic, number) not in self._positions]
                if new and readers:
                    for reader in readers:
                        reader.positions.update(dict.fromkeys(new, 0))
                    self._assign(dict.fromkeys(new, 0))

    def _deliveries(self, batch: list[Columns]) -> dict[Reader, list[Columns]]:
        found: dict[Reader, list[Columns]] = {}
        with self._lock:
            for columns in batch:
                place = columns.topic, columns.partition
                if place in self._positions:
                    self._positions[place] = columns.offsets[-1] + 1
                    for reader in self._readers.get(columns.topic, ()):
                        found.setdefault(reader, []).append(columns)
        return found

    def _readers_of(self, topic: str) -> list[Reader]:
        with self._lock:
            return list(self._readers.get(topic, ()))

    def _leave_unread_topics(self, consumer: Consumer) -> None:
        with self._lock:
            unread = [topic for topic, readers in self._readers.items() if not readers]
            if not unread:
                return
            for topic in unread:
                del self._readers[topic]
            places = [place for place in self._positions if place[0] in unread]
            for place in places:
                del self._positions[place]
            consumer.incremental_unassign([TopicPartition(*place) for place in places])
