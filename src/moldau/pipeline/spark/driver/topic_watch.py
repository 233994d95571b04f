"""Watches the end offsets of topics for all applications of a process, with one request instead of one for each."""

import threading
import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from moldau.pipeline.spark.clients import ClientSettings, shared
from moldau.pipeline.spark.positions import Positions
from moldau.pipeline.spark.topic_offsets import end_offsets

REST_S: Final = 60.0
"""A watch that is not used ends. The next use starts it again."""


class TopicWatch:
    def __init__(self, servers: str, settings: ClientSettings) -> None:
        self._admin = AdminClient(shared(servers, settings))
        self._changed = threading.Condition()
        self._wanted: dict[object, tuple[Mapping[str, int], float]] = {}
        self._ends: Positions = {}
        self._failure: Exception | None = None
        self._is_running = False

    def ends(self, partitions: Mapping[str, int]) -> Positions:
        """The current end offsets, from the brokers."""
        return end_offsets(self._admin, partitions)

    def follow(self, who: object, partitions: Mapping[str, int], every_s: float) -> None:
        """From now on `wait` returns for `who` when these topics grow. `partitions`: how many each has."""
        with self._changed:
            self._wanted[who] = (dict(partitions), every_s)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._look, name="topic-watch", daemon=True).start()
            self._changed.notify_all()

    def leave(self, who: object) -> None:
        with self._changed:
            self._wanted.pop(who, None)
            self._changed.notify_all()

    def wait(self, who: object, known: Positions, timeout_s: float) -> Positions:
        """Returns when a topic has grown beyond `known`, or after the timeout. Raises KafkaException while the brokers
        cannot be reached."""
        with self._changed:
            topics = self._wanted[who][0]
            self._changed.wait_for(
                lambda: self._failure is not None or self._is_new(topics, known), timeout_s
            )
            if self._failure is not None:
                raise self._failure
            return {topic: dict(self._ends.get(topic, {})) for topic in topics if topic in self._ends}

    def _is_new(self, topics: Mapping[str, int], known: Positions) -> bool:
        return any(
            end > known.get(topic, {}).get(partition, 0)
            for topic in topics
            for partition, end in self._ends.get(topic, {}).items()
        )

    def _look(self) -> None:
        while True:
            with self._changed:
                if not self._wanted:
                    self._is_running = False
                    return
                counts: dict[str, int] = {}
                for partitions, _ in self._wanted.values():
                    for topic, count in partitions.items():
                        counts[topic] = max(count, counts.get(topic, 0))
                every_s = min(every for _, every in self._wanted.values())
            began = time.monotonic()
            try:
                ends, failure = end_offsets(self._admin, counts), None
            except (KafkaException, TimeoutError) as unreachable:
                ends, failure = self._ends, unreachable
            with self._changed:
                self._ends, self._failure = ends, failure
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: not self._wanted, max(0.001, every_s - (time.monotonic() - began))
                )


_lock = threading.Lock()
_watches: dict[tuple[str, tuple[tuple[str, str], ...]], TopicWatch] = {}


def topic_watch(servers: str, settings: ClientSettings) -> TopicWatch:
    """One watch for each cluster and each way to connect to it."""
    key = (servers, tuple(sorted(settings.items())))
    with _lock:
        watch = _watches.get(key)
        if watch is None:
            watch = _watches[key] = TopicWatch(servers, settings)
        return watch
