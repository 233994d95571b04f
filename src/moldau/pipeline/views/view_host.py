"""Keeps the views of an application up to date: one consumer reads the changelogs of all its queryable stores from the
beginning. A restart builds the views again.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.pipeline.plan.stores import StoreKind
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.views.changelog_view import ChangelogView

log = logging.getLogger(__name__)

ASK_S: Final = 10.0
RETRY_S: Final = 1.0
MESSAGES_PER_CALL: Final = 10_000
READABLE: Final = frozenset({StoreKind.KEY_VALUE, StoreKind.VERSIONED, StoreKind.WINDOW, StoreKind.SESSION})


class ViewHost:
    """`client_settings` are librdkafka's, including `bootstrap.servers`."""

    def __init__(self, topology: Topology, application_id: str, client_settings: Mapping[str, str]) -> None:
        specs = [
            spec
            for part in topology.sub_topologies
            for spec in part.stores
            if spec.queryable and spec.kind in READABLE
        ]
        self.views = {spec.name: ChangelogView(spec) for spec in specs}
        self._by_topic = {spec.changelog_topic(application_id): self.views[spec.name] for spec in specs}
        self._settings = {
            "log_level": "2",
            **client_settings,
            "group.id": f"{application_id}-views",
            "enable.auto.commit": "false",
            "isolation.level": "read_committed",
            "enable.partition.eof": "true",
            "auto.offset.reset": "earliest",
        }
        self._unread: set[tuple[str, int]] = set()
        self._ready = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._feed, name=f"views-{application_id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(ASK_S)

    def wait_ready(self, timeout_s: float | None = None) -> bool:
        """Waits until everything that was in the changelogs at the start has been read."""
        return self._ready.wait(timeout_s)

    def __getitem__(self, store: str) -> ChangelogView:
        """Raises ApiError for a store that is not served, or not ready yet."""
        found = self.views.get(store)
        if found is None:
            names = ", ".join(sorted(self.views)) or "none"
            raise ApiError(
                ErrorCode.RESOURCE_NOT_FOUND,
                f"there is no view of a store {store!r}; there are: {names}. Only named stores have one",
            )
        if not self._ready.is_set():
            raise ApiError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, f"the view of {store!r} is being built; try again"
            )
        return found

    def _feed(self) -> None:
        if not self._by_topic:
            self._ready.set()
            return
        consumer = Consumer(self._settings)
        try:
            if self._retrying(lambda: self._assign(consumer)):
                while not self._stopping.is_set():
                    first = consumer.poll(0.2)
                    if first is not None:
                        self._take([first, *consumer.consume(MESSAGES_PER_CALL, 0)])
        finally:
            consumer.close()

    def _retrying(self, attempt: Callable[[], bool]) -> bool:
        """Retries until it succeeds. Returns False if the host is stopped before."""
        while not self._stopping.is_set():
            try:
                if attempt():
                    return True
            except KafkaException as failure:
                log.debug("views wait for the broker: %s", failure)
            self._stopping.wait(RETRY_S)
        return False

    def _assign(self, consumer: Consumer) -> bool:
        """Returns False while a changelog does not exist yet: the application creates them when it starts."""
        places = []
        for topic in self._by_topic:
            found = consumer.list_topics(topic, timeout=ASK_S).topics[topic]
            if found.error is not None:
                return False
            places += [TopicPartition(topic, partition, 0) for partition in found.partitions]
        self._unread = {(place.topic, place.partition) for place in places}
        consumer.assign(places)
        return True

    def _take(self, messages: Sequence[Any]) -> None:
        by_topic: dict[str, list[tuple[bytes, bytes | None, int]]] = {}
        for message in messages:
            error = message.error()
            if error is None:
                record = (message.key(), message.value(), message.timestamp()[1])
                by_topic.setdefault(message.topic(), []).append(record)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._unread.discard((message.topic(), message.partition()))
        for topic, records in by_topic.items():
            self._by_topic[topic].load(records)
        if not self._unread:
            self._ready.set()
