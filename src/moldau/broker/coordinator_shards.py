"""The shards of a coordinator: one for each partition of the internal topic its state is kept in.

Owns which shard looks after which key, and that the topic is there. What a shard does is its own business.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, Protocol, TypeVar

from moldau.broker.catalog import TopicCatalog, TopicEntry
from moldau.broker.internal_topics import java_hash
from moldau.core.ids import TopicPartition
from moldau.core.ports import Scheduler


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
        load_code: Callable[[], Callable[[TopicPartition], AnyShard]],
        scheduler: Scheduler,
    ) -> None:
        """`load_code` imports what a shard takes and returns what makes one. It is asked to once the first shard is
        needed: many brokers never see a group or a transaction."""
        self._topic = topic
        self._catalog = catalog
        self._ensure_topic = ensure_topic
        self._load_code = load_code
        self._scheduler = scheduler
        self._shards: list[AnyShard] = []

    def __iter__(self) -> Iterator[AnyShard]:
        return iter(self._shards)

    def load(self) -> None:
        """Replays what is on disk. Blocks: before anything is served."""
        entry = self._catalog.find(self._topic)
        if entry is not None:
            self._shards = _made(entry, self._load_code())
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
            make_shard = await self._scheduler.run_in_worker(self._load_code)
            entry = await self._ensure_topic()
            if not self._shards:
                self._shards = _made(entry, make_shard)
                self.start()
        shard = self.find(key)
        assert shard is not None
        return shard


def _made(entry: TopicEntry, make_shard: Callable[[TopicPartition], AnyShard]) -> list[AnyShard]:
    return [make_shard(TopicPartition(entry.name, index)) for index in range(len(entry.partitions))]
