"""The input and the output of an assignor."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moldau.broker.group.consumer.topic_id_partitions import NO_PARTITIONS, TopicIdPartitions
from moldau.core.ids import TopicId


@dataclass(frozen=True, slots=True)
class Subscriber:
    member_id: str
    topics: frozenset[TopicId]
    """The subscribed topics that exist."""
    instance_id: str | None = None
    share: TopicIdPartitions = NO_PARTITIONS
    """Its target assignment so far."""


PartitionCounts = Mapping[TopicId, int]
"""Of every subscribed topic."""
Assignor = Callable[[Sequence[Subscriber], PartitionCounts], dict[str, TopicIdPartitions]]
"""Returns a share for every subscriber. Every partition of a subscribed topic is in exactly one share."""
