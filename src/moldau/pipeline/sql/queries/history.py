"""Reading what topics have already: a few threads with a consumer each, which take turns at the readers behind."""

import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from moldau.pipeline.operators.failures import FAILURES
from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.queries.messages import Place, Received, receive
from moldau.pipeline.sql.queries.reader import Reader, Stage
from moldau.pipeline.sql.queries.row_stream import COMPLETE
from moldau.pipeline.sql.queries.tail import Tail
from moldau.pipeline.sql.queries.time_merge import TimeMerge
from moldau.pipeline.sql.queries.topics import deleted, partitions_now, topic_failure

THREADS_MAX: Final = 4
FETCH_WAIT_MS: Final = 10
"""The end of a partition is seen in a fetch that finds nothing, so it must be short."""
POLL_S: Final = 0.1
CHECK_INTERVAL_S: Final = 3.0
RETRY_S: Final = 1.0
TURN_S: Final = 1.0
"""How long one reader reads while others wait."""


class History:
    def __init__(
        self,
        bootstrap_servers: str,
        settings: clients.ClientSettings,
        tail: Tail,
        on_full: Callable[[Reader], None],
    ) -> None:
        """`on_full` is called for a reader whose client has no room."""
        self._settings = {
            **clients.consumer(bootstrap_servers, settings, "moldau-sql-history", FETCH_WAIT_MS),
            "enable.partition.eof": "true",
        }
        self._tail = tail
        self._on_full = on_full
        self._todo: queue.SimpleQueue[Reader | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closing = threading.Event()

    def submit(self, reader: Reader) -> None:
        """Reads from the reader's positions on: to its stop, or until it is live."""
        with self._lock:
            if self._idle <= self._todo.qsize() and len(self._threads) < THREADS_MAX:
                thread = threading.Thread(target=self._work, name="sql-history", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._todo.put(reader)

    def close(self) -> None:
        self._closing.set()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        consumer = Consumer(self._settings)
        try:
            while not self._closing.is_set():
                with self._lock:
                    self._idle += 1
                reader = self._todo.get()
                with self._lock:
                    self._idle -= 1
                if reader is None:
                    return
                Turn(reader, consumer, self._tail, self._closing.is_set, self._others_wait).run()
                self._after(reader)
        finally:
            consumer.close()

    def _others_wait(self) -> bool:
        return not self._todo.empty()

    def _after(self, reader: Reader) -> None:
        if reader.is_over:
            self._tail.leave(reader)
        elif reader.stage is Stage.HISTORY and not self._closing.is_set():
            if reader.stream.has_room:
                if reader.has_to_wait:
                    self._closing.wait(RETRY_S)
                self._todo.put(reader)
            else:
                self._tail.leave(reader)
                self._on_full(reader)


class Turn:
    """Of one reader with one consumer: until it is live, at its stop, has no room, or has had its time. Without a tail
    it reads on instead of becoming live."""

    def __init__(
        self,
        reader: Reader,
        consumer: Consumer,
        tail: Tail | None,
        is_closing: Callable[[], bool],
        others_wait: Callable[[], bool],
    ) -> None:
        self._others_wait = others_wait
        self._reader = reader
        self._consumer = consumer
        self._tail = tail
        self._is_closing = is_closing
        self._unread: set[Place] = set()
        self._live_from: dict[Place, int] | None = None
        self._next_check_s = time.monotonic() + CHECK_INTERVAL_S

    def run(self) -> None:
        try:
            self._run()
        except FAILURES as failure:
            self._reader.fail(failure)
        finally:
            if self._tail and self._live_from is not None and self._reader.stage is not Stage.LIVE:
                self._tail.leave(self._reader)
            self._consumer.unassign()

    def _run(self) -> None:
        reader, until_s = self._reader, time.monotonic() + TURN_S
        self._assign()
        while not (reader.is_over or self._is_closing()):
            received = receive(self._consumer, POLL_S)
            if received is None:
                if self._is_changed():
                    return
            elif not self._take(received):
                return
            if not self._unread and self._is_done():
                return
            if self._live_from is None and time.monotonic() > until_s and self._others_wait():
                return

    def _assign(self) -> None:
        reader = self._reader
        chosen = [
            place for place in reader.positions if not reader.first_topics or place[0] in reader.first_topics
        ]
        self._unread = set(chosen)
        self._merge = TimeMerge(chosen) if reader.is_ordered and len(chosen) > 1 else None
        self._paused: set[Place] = set()
        self._consumer.assign([TopicPartition(*place, reader.positions[place]) for place in chosen])

    def _hold_back(self, ahead: set[Place]) -> None:
        """Partitions that are ahead of the others are not read on."""
        for change, places in (
            (self._consumer.pause, ahead - self._paused),
            (self._consumer.resume, self._paused - ahead),
        ):
            if places:
                change([TopicPartition(*place) for place in places])
        self._paused = ahead

    def _is_changed(self) -> bool:
        """Looks now and then, while nothing comes, whether the topics are still there, and without a tail whether they
        have new partitions."""
        if time.monotonic() < self._next_check_s:
            return False
        self._next_check_s = time.monotonic() + CHECK_INTERVAL_S
        for topic, count in partitions_now(self._consumer, self._reader.topics).items():
            if count == 0:
                self._reader.fail(deleted(topic))
                return True
            if self._tail is None and self._reader.stops is None:
                new = [(topic, one) for one in range(count) if (topic, one) not in self._reader.positions]
                self._reader.positions.update(dict.fromkeys(new, 0))
                if new:
                    return True
        return False

    def _take(self, received: Received) -> bool:
        reader = self._reader
        for topic, error in received.failures.items():
            reader.fail(topic_failure(topic, error))
            return False
        batch, ends = received.batch, received.ends
        if self._merge is not None:
            self._merge.add(batch, ends)
            batch = self._merge.released()
            ends = self._merge.passed_ends()
            self._hold_back(self._merge.too_far_ahead())
        if batch and not reader.take(batch):
            return False
        for place, offset in ends.items():
            reader.positions[place] = max(reader.positions[place], offset)
            self._unread.discard(place)
        if self._live_from is not None:
            self._unread -= {
                place for place in self._unread if reader.positions[place] >= self._live_from[place]
            }
        return True

    def _is_done(self) -> bool:
        """All that was asked for so far has been read: goes on to the next thing, if there is one."""
        reader = self._reader
        if reader.first_topics:
            reader.first_topics.clear()
            self._assign()
            return False
        if reader.stops is not None:
            reader.stream.finish(COMPLETE)
            return True
        if self._tail is None:
            # From now on partitions are taken as they come, as live readers do.
            self._merge = None
            self._hold_back(set())
            return False
        if self._live_from is None:
            reader.expect_live_batches()
            self._live_from = self._tail.join(reader)
            self._unread = {
                place for place, offset in self._live_from.items() if reader.positions[place] < offset
            }
            if self._unread:
                return False
        reader.go_live()
        return True
