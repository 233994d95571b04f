"""The `range` assignor: of each topic every subscriber gets one contiguous range of partitions.

Members with the same subscriptions get the same partition numbers of every topic, so that co-partitioned
topics can be joined. Static members come first, by instance id: they keep their range when they restart.
"""

from collections.abc import Sequence

from moldau.broker.group.consumer.assignors.subscriber import PartitionCounts, Subscriber
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartition, TopicIdPartitions
from moldau.core.ids import TopicId


def assign_range(subscribers: Sequence[Subscriber], counts: PartitionCounts) -> dict[str, TopicIdPartitions]:
    ordered = sorted(subscribers, key=_rank)
    shares: dict[str, list[TopicIdPartition]] = {subscriber.member_id: [] for subscriber in subscribers}
    by_topic: dict[TopicId, list[str]] = {}
    for subscriber in ordered:
        for topic_id in subscriber.topics:
            by_topic.setdefault(topic_id, []).append(subscriber.member_id)
    for topic_id, members in by_topic.items():
        least, extra = divmod(counts[topic_id], len(members))
        start = 0
        for position, member_id in enumerate(members):
            end = start + least + (position < extra)
            shares[member_id] += ((topic_id, partition) for partition in range(start, end))
            start = end
    return {member_id: frozenset(share) for member_id, share in shares.items()}


def _rank(subscriber: Subscriber) -> tuple[bool, str]:
    dynamic = subscriber.instance_id is None
    return dynamic, subscriber.instance_id or subscriber.member_id
