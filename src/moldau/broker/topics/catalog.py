"""The image of all topics in memory, from which Metadata is answered.

Owned by the broker's thread. It changes only after the coordination store has accepted the change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from moldau.core.ids import TopicId, TopicPartition

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class PartitionEntry(NamedTuple):
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


def initial_entry(replicas: tuple[int, ...]) -> PartitionEntry:
    """The entry of a partition whose state has never been written."""
    return PartitionEntry(leader=replicas[0], leader_epoch=0, replicas=replicas, isr=replicas)


@dataclass(frozen=True, slots=True)
class TopicEntry:
    """The state of a topic at one moment; a change makes a new entry."""

    name: str
    topic_id: TopicId
    partitions: tuple[PartitionEntry, ...]
    configs: Mapping[str, str]
    """The overrides of this topic; everything else comes from the broker."""

    @property
    def is_internal(self) -> bool:
        return self.name in INTERNAL_TOPICS

    def with_configs(self, configs: Mapping[str, str]) -> "TopicEntry":
        return replace(self, configs=configs)

    def with_more(self, partitions: tuple[PartitionEntry, ...]) -> "TopicEntry":
        return replace(self, partitions=self.partitions + partitions)


class TopicCatalog:
    def __init__(self) -> None:
        self._by_name: dict[str, TopicEntry] = {}
        self._by_id: dict[TopicId, TopicEntry] = {}
        self._metric_names: dict[str, set[str]] = {}
        self.epoch = 0
        """Grows with every change. Caches use it as a key."""
        self._watchers: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return len(self._by_name)

    def topics(self) -> list[TopicEntry]:
        return list(self._by_name.values())

    def find(self, name: str) -> TopicEntry | None:
        return self._by_name.get(name)

    def find_by_id(self, topic_id: TopicId) -> TopicEntry | None:
        return self._by_id.get(topic_id)

    def leader_epoch(self, topic_partition: TopicPartition) -> int:
        """The partition must exist."""
        return self._by_name[topic_partition.topic].partitions[topic_partition.partition].leader_epoch

    def watch(self, watcher: Callable[[], None]) -> None:
        """Called after a topic was created, deleted or given more partitions."""
        self._watchers.append(watcher)

    def leader_of(self, topic_partition: TopicPartition) -> int:
        """-1 when the partition has no leader or does not exist."""
        entry = self._by_name.get(topic_partition.topic)
        if entry is None or topic_partition.partition >= len(entry.partitions):
            return -1
        return entry.partitions[topic_partition.partition].leader

    def put(self, entry: TopicEntry) -> None:
        """Adds a topic or replaces its entry."""
        known = self._by_name.get(entry.name)
        self._by_name[entry.name] = entry
        self._by_id[entry.topic_id] = entry
        self._metric_names.setdefault(metric_name(entry.name), set()).add(entry.name)
        self.epoch += 1
        if known is None or len(known.partitions) != len(entry.partitions):
            self._tell_watchers()

    def remove(self, topic_id: TopicId) -> None:
        """By id, so that a newer topic of the same name stays."""
        entry = self._by_id.pop(topic_id, None)
        if entry is None:
            return
        self._by_name.pop(entry.name, None)
        same = self._metric_names[metric_name(entry.name)]
        same.discard(entry.name)
        if not same:
            del self._metric_names[metric_name(entry.name)]
        self.epoch += 1
        self._tell_watchers()

    def _tell_watchers(self) -> None:
        for watcher in self._watchers:
            watcher()

    def colliding(self, name: str) -> str | None:
        """Another topic whose metrics would have the same name."""
        return min(self._metric_names.get(metric_name(name), set()) - {name}, default=None)


def metric_name(topic: str) -> str:
    """Metric names have `_` for `.`, so `a.b` and `a_b` would share a name; Kafka rejects the second."""
    return topic.replace(".", "_")
