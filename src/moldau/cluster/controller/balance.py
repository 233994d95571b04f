"""Preferred leader election, once too many partitions are led by other replicas. Pure.

As with Kafka's `auto.leader.rebalance.enable`: a broker is out of balance when more than
`leader.imbalance.per.broker.percentage` of the partitions it is the preferred leader of are led by others.
"""

from collections import defaultdict
from collections.abc import Iterator

from moldau.cluster.controller.elections import decide_preferred
from moldau.coordination.image import ClusterImage
from moldau.coordination.partition_states import StateWrite
from moldau.core.ids import TopicPartition


def decide_balance(image: ClusterImage, imbalance_percentage: int) -> list[StateWrite]:
    owned: dict[int, int] = defaultdict(int)
    away: dict[int, list[TopicPartition]] = defaultdict(list)
    for topic in image.topics.values():
        for partition, state in topic.states():
            preferred = topic.target(partition)[0]
            owned[preferred] += 1
            if state.leader != preferred:
                away[preferred].append(TopicPartition(topic.name, partition))
    return [
        write
        for broker_id, topic_partitions in away.items()
        if len(topic_partitions) * 100 > imbalance_percentage * owned[broker_id]
        for write in _elected(image, topic_partitions)
    ]


def _elected(image: ClusterImage, topic_partitions: list[TopicPartition]) -> Iterator[StateWrite]:
    for topic_partition in topic_partitions:
        topic = image.topics[topic_partition.topic]
        # A partition being reassigned gets its preferred leader when the reassignment completes.
        if not topic.is_reassigning(topic_partition.partition):
            state = decide_preferred(image, topic, topic_partition.partition)
            if state is not None:
                yield StateWrite(topic_partition, state)
