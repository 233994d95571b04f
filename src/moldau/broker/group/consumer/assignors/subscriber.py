"""What an assignor is told of a member, and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moldau.broker.group.consumer.topic_id_partitions import NO_PARTITIONS, TopicIdPartitions
from moldau.core.ids import TopicId


@dataclass(frozen=True, slots=True)
class Subscriber:
    member_id: str
    topics: frozenset[TopicId]
    """Only such as exist."""
    instance_id: str | None = None
    share: TopicIdPartitions = NO_PARTITIONS
    """What it was to have so far."""


PartitionCounts = Mapping[TopicId, int]
"""Of every topic anybody subscribes to."""
Assignor = Callable[[Sequence[Subscriber], PartitionCounts], dict[str, TopicIdPartitions]]
"""A share for every subscriber; every partition in exactly one, if anybody subscribes to its topic."""
