"""Sets of partitions by topic id, which is how consumer groups know what belongs to whom."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from moldau.core.ids import TopicId

TopicIdPartition = tuple[TopicId, int]
TopicIdPartitions = frozenset[TopicIdPartition]
NO_PARTITIONS: Final[TopicIdPartitions] = frozenset()


class TopicPartitionsLike(Protocol):
    """The shape several messages and records have for it."""

    @property
    def topic_id(self) -> TopicId: ...

    @property
    def partitions(self) -> Sequence[int]: ...


def partitions_of(topics: Iterable[TopicPartitionsLike]) -> TopicIdPartitions:
    return frozenset((topic.topic_id, partition) for topic in topics for partition in topic.partitions)


def by_topic(topic_partitions: Iterable[TopicIdPartition]) -> list[tuple[TopicId, list[int]]]:
    """In order, so that equal sets become equal bytes."""
    partitions: dict[TopicId, list[int]] = {}
    for topic_id, partition in sorted(topic_partitions):
        partitions.setdefault(topic_id, []).append(partition)
    return list(partitions.items())
