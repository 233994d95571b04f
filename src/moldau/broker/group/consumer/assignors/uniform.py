"""The `uniform` assignor: shares differ by one at most, with as few moves as possible.

This is exact where all members subscribe to the same topics. Otherwise the load is balanced topic by topic
until no partition can move to a subscriber that has at least two fewer.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace

from moldau.broker.group.consumer.assignors.subscriber import PartitionCounts, Subscriber
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartition, TopicIdPartitions
from moldau.core.ids import TopicId


def assign_uniform(
    subscribers: Sequence[Subscriber], counts: PartitionCounts
) -> dict[str, TopicIdPartitions]:
    ordered = sorted(subscribers, key=lambda subscriber: subscriber.member_id)
    if not ordered:
        return {}
    kept = _kept(ordered, counts)
    if all(subscriber.topics == ordered[0].topics for subscriber in ordered):
        shares = _same_topics(kept, ordered[0].topics, counts)
    else:
        shares = _Balance(ordered, kept, counts).shares()
    return {member_id: frozenset(share) for member_id, share in shares.items()}


def _kept(ordered: Sequence[Subscriber], counts: PartitionCounts) -> dict[str, list[TopicIdPartition]]:
    """The part of each member's share that it may keep."""
    taken: set[TopicIdPartition] = set()
    kept = {}
    for subscriber in ordered:
        share = sorted(
            partition
            for partition in subscriber.share
            if partition[0] in subscriber.topics
            and partition[1] < counts[partition[0]]
            and partition not in taken
        )
        taken.update(share)
        kept[subscriber.member_id] = share
    return kept


def _free(
    kept: dict[str, list[TopicIdPartition]], topics: Iterable[TopicId], counts: PartitionCounts
) -> list[TopicIdPartition]:
    taken = {partition for share in kept.values() for partition in share}
    every = ((topic_id, number) for topic_id in sorted(topics) for number in range(counts[topic_id]))
    return [partition for partition in every if partition not in taken]


def _same_topics(
    kept: dict[str, list[TopicIdPartition]], topics: frozenset[TopicId], counts: PartitionCounts
) -> dict[str, list[TopicIdPartition]]:
    least, extra = divmod(sum(counts[topic_id] for topic_id in topics), len(kept))
    # Members above the minimum get the extra partitions first: they need not give one up.
    by_need = sorted(kept, key=lambda member_id: (len(kept[member_id]) <= least, member_id))
    quotas = {member_id: least + (position < extra) for position, member_id in enumerate(by_need)}
    shares = {member_id: share[: quotas[member_id]] for member_id, share in kept.items()}
    free = iter(_free(shares, topics, counts))
    for member_id, share in shares.items():
        share += (next(free) for _ in range(quotas[member_id] - len(share)))
    return shares


class _Balance:
    """The shares of members with different subscriptions while they are being balanced."""

    def __init__(
        self, ordered: Sequence[Subscriber], kept: dict[str, list[TopicIdPartition]], counts: PartitionCounts
    ) -> None:
        self._counts = counts
        self._readers: dict[TopicId, list[str]] = defaultdict(list)
        for subscriber in ordered:
            for topic_id in subscriber.topics:
                self._readers[topic_id].append(subscriber.member_id)
        self._loads = {member_id: len(share) for member_id, share in kept.items()}
        self._owners = {partition: member_id for member_id, share in kept.items() for partition in share}

    def shares(self) -> dict[str, list[TopicIdPartition]]:
        # Topics with the fewest subscribers first: they leave the least choice.
        topics = sorted(self._readers, key=lambda topic_id: (len(self._readers[topic_id]), topic_id))
        for topic_id in topics:
            self._assign_free(topic_id)
        while any([self._even_out(topic_id) for topic_id in topics]):
            pass
        shares: dict[str, list[TopicIdPartition]] = {member_id: [] for member_id in self._loads}
        for partition, member_id in self._owners.items():
            shares[member_id].append(partition)
        return shares

    def _assign_free(self, topic_id: TopicId) -> None:
        heap = [(self._loads[member_id], member_id) for member_id in self._readers[topic_id]]
        heapify(heap)
        for number in range(self._counts[topic_id]):
            if (topic_id, number) in self._owners:
                continue
            load, member_id = heap[0]
            self._owners[topic_id, number] = member_id
            self._loads[member_id] = load + 1
            heapreplace(heap, (load + 1, member_id))

    def _even_out(self, topic_id: TopicId) -> bool:
        """Each move lowers the sum of the squares of all loads, so the loop terminates."""
        owned: dict[str, list[TopicIdPartition]] = defaultdict(list)
        for number in range(self._counts[topic_id]):
            owned[self._owners[topic_id, number]].append((topic_id, number))
        moved = False
        while owned:
            giver = max(owned, key=lambda member_id: (self._loads[member_id], member_id))
            taker = min(self._readers[topic_id], key=lambda member_id: (self._loads[member_id], member_id))
            if self._loads[giver] - self._loads[taker] < 2:
                break
            partition = owned[giver].pop()
            if not owned[giver]:
                del owned[giver]
            self._owners[partition] = taker
            self._loads[giver] -= 1
            self._loads[taker] += 1
            moved = True
        return moved
