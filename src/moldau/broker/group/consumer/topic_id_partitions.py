"""Sets of partitions by topic id, as consumer groups use them."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from moldau.core.ids import TopicId

TopicIdPartition = tuple[TopicId, int]
TopicIdPartitions = frozenset[TopicIdPartition]
NO_PARTITIONS: Final[TopicIdPartitions] = frozenset()


class TopicPartitionsLike(Protocol):
    """The common shape of several messages and records."""

    @property
    def topic_id(self) -> TopicId: ...

    @property
    def partitions(self) -> Sequence[int]: ...


def partitions_of(topics: Iterable[TopicPartitionsLike]) -> TopicIdPartitions:
    return frozenset((topic.topic_id, partition) for topic in topics for partition in topic.partitions)


def by_topic(topic_partitions: Iterable[TopicIdPartition]) -> list[tuple[TopicId, list[int]]]:
    """Sorted, so that equal sets are encoded alike."""
    partitions: dict[TopicId, list[int]] = {}
    for topic_id, partition in sorted(topic_partitions):
        partitions.setdefault(topic_id, []).append(partition)
    return list(partitions.items())
