"""The shards of a coordinator: one for each partition of the internal topic that holds its state.

Owns the map from key to shard, and creates the topic. A broker has the shards of the partitions it leads; the
others are on other brokers.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, Protocol, TypeVar

from moldau.broker.topics.catalog import TopicCatalog, TopicEntry
from moldau.broker.topics.internal_topics import java_hash
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicPartition
from moldau.core.ports import Result, Scheduler


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
        is needed: many brokers never see a group or a transaction. `begins_at_once`: the shards of a new
        topic need no election, because there is no other broker."""
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

    def __iter__(self) -> Iterator[AnyShard]:
        """The loaded shards of this broker."""
        return iter(list(self._shards.values()))

    def load(self) -> None:
        """Replays the logs on disk. Blocks, so before anything is served."""
        topic_partitions = self._led_here()
        if not topic_partitions:
            return
        make_shard = self._load_code()
        for topic_partition in topic_partitions:
            shard = make_shard(topic_partition)
            shard.load()
            self._shards[topic_partition.partition] = shard

    def start(self) -> None:
        for shard in self._shards.values():
            shard.start()

    def stop(self) -> None:
        for partition in list(self._shards):
            self.resign(partition)

    async def elect(self, partition: int, run_in_worker: RunInWorker) -> None:
        """This broker leads the partition now: loads its shard and starts it. A newer election replaces an
        older one."""
        self.resign(partition)
        token = self._loading[partition] = object()

        def load() -> AnyShard:
            shard = self._load_code()(TopicPartition(self._topic, partition))
            shard.load()
            return shard

        try:
            shard = await run_in_worker(load)
        except (ApiError, StorageFault):
            if self._loading.get(partition) is token:
                del self._loading[partition]
            raise
        if self._loading.get(partition) is token:
            del self._loading[partition]
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
        """The topic; the first call creates it. ApiError when that fails."""
        entry = self._catalog.find(self._topic)
        if entry is not None:
            return entry
        if not self._begins_at_once:
            return await self._ensure_topic()
        make_shard = await self._scheduler.run_in_worker(self._load_code)
        entry = await self._ensure_topic()
        self._begin_empty(make_shard)
        return entry

    async def ready(self, key: str) -> AnyShard:
        """The shard of `key`; the first call creates the topic. ApiError when that fails or the shard is on
        another broker."""
        await self.ensure()
        topic_partition = self.partition_of(key)
        if topic_partition is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return self.at(topic_partition.partition)

    def _led_here(self) -> list[TopicPartition]:
        entry = self._catalog.find(self._topic)
        topic_partitions = (
            []
            if entry is None
            else [TopicPartition(self._topic, index) for index in range(len(entry.partitions))]
        )
        return [topic_partition for topic_partition in topic_partitions if self._is_led_here(topic_partition)]

    def _begin_empty(self, make_shard: Callable[[TopicPartition], AnyShard]) -> None:
        """A new topic: there is nothing to load."""
        for topic_partition in self._led_here():
            if topic_partition.partition not in self._shards:
                shard = self._shards[topic_partition.partition] = make_shard(topic_partition)
                shard.start()


def coordinator_error(error: ApiError) -> ErrorCode:
    """The error for a client: look for the coordinator again, wait, or try again."""
    if error.code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
        return error.code
    if error.code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR):
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.COORDINATOR_NOT_AVAILABLE
