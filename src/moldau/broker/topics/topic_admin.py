"""Creates and deletes topics, and adds partitions.

Decides on the owner's thread against the catalog, writes the coordination store and the directories on a
worker thread, then updates the catalog and the served partitions on the owner's thread. Jobs run in order,
one at a time. The store has the final say on which topics exist.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.run_in_order import RunInOrder
from moldau.broker.topics import topic_records as records
from moldau.broker.topics.catalog import TopicCatalog, TopicEntry, initial_entry
from moldau.broker.topics.topic_rules import (
    NewTopic,
    check_factor,
    check_increase,
    check_name,
    check_replicas,
    check_same_factor,
    check_total,
    choose_replicas,
)
from moldau.broker.topics.topic_rules import topic_name_problem as topic_name_problem
from moldau.coordination.store import Store
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicId, topic_id_text
from moldau.core.placement import Replicas, least_leading, place_replicas
from moldau.storage.log_config import LogConfig


class LogHost(Protocol):
    """Creates, serves and deletes the logs of topics. Directories are created and removed on the worker
    thread."""

    def create_logs(self, entry: TopicEntry, first_partition: int, config: LogConfig) -> None:
        """On the worker thread: creates the logs of all partitions from the first given one. StorageFault."""

    def delete_logs(self, entry: TopicEntry) -> None:
        """On the worker thread: deletes the logs that exist. StorageFault."""

    def serve(self, entry: TopicEntry, first_partition: int) -> None:
        """On the owner's thread: clients may use these partitions from now on."""

    def stop_serving(self, entry: TopicEntry) -> None:
        """On the owner's thread: the topic cannot be used any more."""


def random_topic_id() -> TopicId:
    """As in Kafka, an id never prints with a leading dash: command lines would take it for an option."""
    while True:
        topic_id = TopicId(uuid.uuid4().bytes)
        if not topic_id_text(topic_id).startswith("-"):
            return topic_id


class TopicAdmin:
    def __init__(
        self,
        store: Store,
        catalog: TopicCatalog,
        configs: ConfigStore,
        logs: LogHost,
        run_in_order: RunInOrder,
        brokers: Callable[[], Sequence[int]],
        new_topic_id: Callable[[], TopicId] = random_topic_id,
        *,
        racks: Callable[[], Mapping[int, str]] = dict,
        is_alone: bool = True,
    ) -> None:
        """In a cluster (`is_alone` false) the marker of a deletion stays until all brokers have seen it."""
        self._store = store
        self._catalog = catalog
        self._configs = configs
        self._logs = logs
        self._run_in_order = run_in_order
        self._brokers = brokers
        self._new_topic_id = new_topic_id
        self._racks = racks
        self._is_alone = is_alone

    async def create_with_defaults(self, name: str) -> TopicEntry:
        return await self.create(NewTopic(name))

    async def create(self, topic: NewTopic, *, validate_only: bool = False) -> TopicEntry:
        """The new topic. ApiError when it cannot be created."""
        entry = self._decide_new(topic)
        if validate_only:
            return entry
        config = self._configs.log_config(entry.configs)
        await self._run(lambda: self._make(entry, config))
        # Served first: what watches the catalog may fail, and must not leave a topic that nobody serves.
        self._logs.serve(entry, 0)
        self._catalog.put(entry)
        return entry

    async def delete(self, entry: TopicEntry) -> None:
        """Returns when the logs are deleted, so that the name can be used again at once."""
        if not self._configs.broker.delete_topic_enable:
            raise ApiError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
        await self._run(lambda: records.write_deletion(self._store, entry))
        self._catalog.remove(entry.topic_id)
        self._logs.stop_serving(entry)
        # The topic is deleted whatever the disk says now; with the marker in the store the next start
        # finishes the work.
        with suppress(ApiError):
            await self._run(lambda: self._remove(entry))

    async def grow(
        self,
        name: str,
        count: int,
        assignments: Sequence[Sequence[int]] | None = None,
        *,
        validate_only: bool = False,
    ) -> None:
        """Adds partitions up to `count`."""
        entry = self._catalog.find(name)
        if entry is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        present = len(entry.partitions)
        added = self._decide_more(entry, count, assignments)
        if validate_only:
            return
        grown = entry.with_more(tuple(initial_entry(replicas) for replicas in added))
        config = self._configs.log_config(entry.configs)
        await self._run(lambda: self._extend(grown, present, config))
        # The settings may have changed while the disk was busy; the partitions cannot have.
        latest = self._catalog.find(name) or grown
        grown = grown.with_configs(latest.configs)
        self._logs.serve(grown, present)
        self._catalog.put(grown)

    def _decide_new(self, topic: NewTopic) -> TopicEntry:
        check_name(topic.name)
        if self._catalog.find(topic.name) is not None:
            raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
        colliding = self._catalog.colliding(topic.name)
        if colliding is not None:
            raise ApiError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{topic.name}' collides with existing topic: {colliding}",
            )
        broker = self._configs.broker
        replicas = choose_replicas(
            topic,
            self._brokers(),
            broker.num_partitions,
            broker.default_replication_factor,
            self._spread_new,
        )
        check_total(len(replicas))
        configs = self._configs.check_new_topic(topic.configs)
        born = {brokers: initial_entry(brokers) for brokers in set(replicas)}
        partitions = tuple(born[brokers] for brokers in replicas)
        return TopicEntry(topic.name, self._new_topic_id(), partitions, configs)

    def _decide_more(
        self, entry: TopicEntry, count: int, assignments: Sequence[Sequence[int]] | None
    ) -> list[Replicas]:
        present = len(entry.partitions)
        factor = len(entry.partitions[0].replicas)
        more = check_increase(entry.name, present, count, None if assignments is None else len(assignments))
        check_total(more)
        if assignments is None:
            brokers = self._brokers()
            check_factor(factor, brokers)
            first = entry.partitions[0].replicas[0]
            first = first if first in brokers else brokers[0]
            return place_replicas(range(present, count), factor, brokers, self._racks(), first)
        given = [check_replicas(replicas, self._brokers()) for replicas in assignments]
        check_same_factor(given, factor)
        return given

    def _spread_new(self, indexes: range, factor: int) -> list[Replicas]:
        brokers = self._brokers()
        if len(brokers) == 1:
            return [tuple(brokers)] * len(indexes)
        preferred = (each.replicas[0] for entry in self._catalog.topics() for each in entry.partitions)
        first = least_leading(brokers, preferred)
        return place_replicas(indexes, factor, brokers, self._racks(), first)

    def _make(self, entry: TopicEntry, config: LogConfig) -> None:
        records.write_new(self._store, entry)
        try:
            self._logs.create_logs(entry, 0, config)
        except StorageFault:
            self._undo_creation(entry)
            raise

    def _undo_creation(self, entry: TopicEntry) -> None:
        """A topic whose logs could not be created is deleted. If that fails too, the next start tries
        again."""
        with suppress(StorageFault):
            records.write_deletion(self._store, entry)
            self._remove(entry)

    def _extend(self, grown: TopicEntry, present: int, config: LogConfig) -> None:
        records.write_partitions(self._store, grown, expected=present)
        try:
            self._logs.create_logs(grown, present, config)
        except StorageFault:
            with suppress(StorageFault):
                before = replace(grown, partitions=grown.partitions[:present])
                records.write_partitions(self._store, before, expected=len(grown.partitions))
            raise

    def _remove(self, entry: TopicEntry) -> None:
        self._logs.delete_logs(entry)
        if self._is_alone:
            records.write_deleted(self._store, entry.topic_id)

    async def _run(self, job: Callable[[], None]) -> None:
        try:
            await self._run_in_order(job)
        except StorageFault as fault:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(fault)) from None
