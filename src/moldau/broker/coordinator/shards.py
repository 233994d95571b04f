"""The shards of a coordinator: one for each partition of the internal topic that holds its state.

Owns the map from key to shard, and creates the topic. A broker has the shards of the partitions it leads; the
others are on other brokers.

In a cluster an election begins the shard of a partition. A broker that stands alone has no elections: there the
first request begins the shards that are missing, however the topic came about. It may have been created by this
module, by a client, or again after it was deleted.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from moldau.broker.topics.catalog import TopicCatalog, TopicEntry
from moldau.broker.topics.internal_topics import java_hash
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicId, TopicPartition
from moldau.core.ports import Result, Scheduler

_log = logging.getLogger("moldau.coordinator")


class Shard(Protocol):
    def load(self) -> None:
        """Replays the partition. Blocks, so before it is served."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


AnyShard = TypeVar("AnyShard", bound=Shard)


class RunInWorker(Protocol):
    def __call__(self, job: Callable[[], Result], /) -> Awaitable[Result]: ...


class CoordinatorShards(Generic[AnyShard]):
    def __init__(
        self,
        topic: str,
        catalog: TopicCatalog,
        ensure_topic: Callable[[], Awaitable[TopicEntry]],
        load_code: Callable[[], Callable[[TopicPartition], AnyShard]],
        scheduler: Scheduler,
        is_led_here: Callable[[TopicPartition], bool],
        *,
        begins_at_once: bool = True,
    ) -> None:
        """`load_code` imports the code of a shard and returns its factory. It is called when the first shard
        is needed: many brokers never see a group or a transaction. `begins_at_once`: shards need no election,
        because there is no other broker."""
        self._topic = topic
        self._catalog = catalog
        self._ensure_topic = ensure_topic
        self._load_code = load_code
        self._scheduler = scheduler
        self._is_led_here = is_led_here
        self._begins_at_once = begins_at_once
        self._shards: dict[int, AnyShard] = {}
        self._loading: dict[int, object] = {}
        """By partition, a token of the election under way."""
        self._is_stopped = False
        self._beginning = asyncio.Lock()
        """Held while missing shards are begun; requests that need one wait for it."""
        self._topic_id = self._current_id()
        """Of the topic that the shards belong to."""
        self._unloadable: set[int] = set()
        """Partitions that could not be read, for example because their disk has failed. Only a request for one of
        their keys tries again."""
        if begins_at_once:
            catalog.watch(self._drop_shards_of_deleted_topic)

    def __iter__(self) -> Iterator[AnyShard]:
        """The loaded shards of this broker."""
        return iter(list(self._shards.values()))

    def load(self) -> None:
        """Replays the logs on disk. Blocks, so before anything is served. A partition on a failed disk is left
        out."""
        topic_partitions = self._led_here()
        if topic_partitions:
            make_shard = self._load_code()
            self._shards = self._load_each({each: make_shard(each) for each in topic_partitions})

    def start(self) -> None:
        for shard in self._shards.values():
            shard.start()

    def stop(self) -> None:
        self._is_stopped = True
        self._resign_all()

    async def elect(self, partition: int, run_in_worker: RunInWorker) -> None:
        """This broker leads the partition now: loads its shard and starts it. A newer election replaces an
        older one."""
        self.resign(partition)
        token = self._loading[partition] = object()

        def load() -> AnyShard:
            shard = self._load_code()(TopicPartition(self._topic, partition))
            shard.load()
            return shard

        is_latest = False
        try:
            shard = await run_in_worker(load)
        finally:
            if self._loading.get(partition) is token:
                del self._loading[partition]
                is_latest = True
        if is_latest:
            self._shards[partition] = shard
            shard.start()

    def resign(self, partition: int) -> None:
        """Another broker leads the partition now, or this broker stops."""
        self._loading.pop(partition, None)
        shard = self._shards.pop(partition, None)
        if shard is not None:
            shard.stop()

    def partition_of(self, key: str) -> TopicPartition | None:
        """The partition that holds the state of `key`; None while the topic does not exist."""
        entry = self._catalog.find(self._topic)
        if entry is None:
            return None
        return TopicPartition(self._topic, java_hash(key) % len(entry.partitions))

    def find(self, key: str) -> AnyShard | None:
        topic_partition = self.partition_of(key)
        return None if topic_partition is None else self._shards.get(topic_partition.partition)

    def at(self, partition: int) -> AnyShard:
        """ApiError when the shard is not here or not loaded yet."""
        shard = self._shards.get(partition)
        if shard is None:
            is_coming = partition in self._loading
            code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if is_coming else ErrorCode.NOT_COORDINATOR
            raise ApiError(
                code, f"{self._topic}-{partition} is {'being loaded' if is_coming else 'not led'} here"
            )
        return shard

    async def ensure(self) -> TopicEntry:
        """The topic; the first call creates it. Without elections it also begins the shards that are missing.
        ApiError when the topic cannot be created."""
        entry = self._catalog.find(self._topic)
        if entry is not None and not self._may_lack_shards(entry):
            return entry
        if not self._begins_at_once:
            return await self._ensure_topic()
        async with self._beginning:
            make_shard = await self._scheduler.run_in_worker(self._load_code)
            entry = await self._ensure_topic()
            await self._begin([each for each in self._led_here() if self._is_missing(each)], make_shard)
        return entry

    async def ready(self, key: str) -> AnyShard:
        """The shard of `key`; the first call creates the topic. ApiError when that fails or the shard is on
        another broker."""
        shard = self.find(key)
        if shard is not None:
            return shard
        await self.ensure()
        topic_partition = self.partition_of(key)
        if topic_partition is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if topic_partition.partition in self._unloadable:
            async with self._beginning:
                await self._begin([topic_partition], self._load_code())
        return self.at(topic_partition.partition)

    def _may_lack_shards(self, entry: TopicEntry) -> bool:
        known = len(self._shards) + len(self._unloadable)
        return self._begins_at_once and not self._is_stopped and known < len(entry.partitions)

    def _is_missing(self, topic_partition: TopicPartition) -> bool:
        partition = topic_partition.partition
        return partition not in self._shards and partition not in self._unloadable

    def _led_here(self) -> list[TopicPartition]:
        entry = self._catalog.find(self._topic)
        topic_partitions = (
            []
            if entry is None
            else [TopicPartition(self._topic, index) for index in range(len(entry.partitions))]
        )
        return [topic_partition for topic_partition in topic_partitions if self._is_led_here(topic_partition)]

    async def _begin(
        self, topic_partitions: Sequence[TopicPartition], make_shard: Callable[[TopicPartition], AnyShard]
    ) -> None:
        topic_id = self._topic_id
        shards = {
            each: make_shard(each)
            for each in topic_partitions
            if each.partition not in self._shards and self._is_led_here(each)
        }
        loaded = await self._scheduler.run_in_worker(lambda: self._load_each(shards))
        if self._is_stopped or self._topic_id != topic_id:
            return
        for partition, shard in loaded.items():
            self._shards[partition] = shard
            shard.start()

    def _load_each(self, shards: Mapping[TopicPartition, AnyShard]) -> dict[int, AnyShard]:
        """On a worker thread. Those that could be loaded, by partition."""
        loaded = {}
        for topic_partition, shard in shards.items():
            try:
                shard.load()
            except (ApiError, StorageFault) as problem:
                if topic_partition.partition not in self._unloadable:
                    self._unloadable.add(topic_partition.partition)
                    _log.error(
                        "the coordinator of %s cannot be loaded, so its groups or transactions are not served; a "
                        "request for one of them tries again: %s",
                        topic_partition,
                        problem,
                    )
            else:
                self._unloadable.discard(topic_partition.partition)
                loaded[topic_partition.partition] = shard
        return loaded

    def _drop_shards_of_deleted_topic(self) -> None:
        """A new topic of the same name starts with new shards: the old ones would write to deleted logs."""
        topic_id = self._current_id()
        if topic_id != self._topic_id:
            self._topic_id = topic_id
            self._unloadable.clear()
            self._resign_all()

    def _current_id(self) -> TopicId | None:
        entry = self._catalog.find(self._topic)
        return None if entry is None else entry.topic_id

    def _resign_all(self) -> None:
        for partition in list(self._shards):
            self.resign(partition)


def coordinator_error(error: ApiError) -> ErrorCode:
    """The error for a client: look for the coordinator again, wait, or try again."""
    if error.code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
        return error.code
    if error.code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR):
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.COORDINATOR_NOT_AVAILABLE
