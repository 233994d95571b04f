"""The shards of a coordinator: one for each partition of the internal topic its state is kept in.

Owns which shard looks after which key, and that the topic is there. What a shard does is its own business.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, Protocol, TypeVar

from moldau.broker.catalog import TopicCatalog, TopicEntry
from moldau.broker.internal_topics import java_hash
from moldau.core.ids import TopicPartition


class Shard(Protocol):
    def load(self) -> None:
        """Replays the partition. Blocks: before it is served."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


AnyShard = TypeVar("AnyShard", bound=Shard)


class CoordinatorShards(Generic[AnyShard]):
    def __init__(
        self,
        topic: str,
        catalog: TopicCatalog,
        ensure_topic: Callable[[], Awaitable[TopicEntry]],
        make_shard: Callable[[TopicPartition], AnyShard],
    ) -> None:
        self._topic = topic
        self._catalog = catalog
        self._ensure_topic = ensure_topic
        self._make_shard = make_shard
        self._shards: list[AnyShard] = []

    def __iter__(self) -> Iterator[AnyShard]:
        return iter(self._shards)

    def load(self) -> None:
        """Replays what is on disk. Blocks: before anything is served."""
        entry = self._catalog.find(self._topic)
        if entry is not None:
            self._shards = self._make(entry)
            for shard in self._shards:
                shard.load()

    def start(self) -> None:
        for shard in self._shards:
            shard.start()

    def stop(self) -> None:
        for shard in self._shards:
            shard.stop()

    def place_of(self, key: str) -> TopicPartition | None:
        """The partition the state of `key` is kept in; None while there is none at all."""
        if not self._shards:
            return None
        return TopicPartition(self._topic, java_hash(key) % len(self._shards))

    def find(self, key: str) -> AnyShard | None:
        place = self.place_of(key)
        return None if place is None else self._shards[place.partition]

    def at(self, partition: int) -> AnyShard:
        return self._shards[partition]

    async def ready(self, key: str) -> AnyShard:
        """The shard of `key`; the first caller makes the topic. ApiError when that cannot be done."""
        if not self._shards:
            entry = await self._ensure_topic()
            if not self._shards:
                self._shards = self._make(entry)
                self.start()
        shard = self.find(key)
        assert shard is not None
        return shard

    def _make(self, entry: TopicEntry) -> list[AnyShard]:
        return [self._make_shard(TopicPartition(entry.name, index)) for index in range(len(entry.partitions))]
