"""Leaders go back to the replicas that should lead, once too many are elsewhere. Pure.

As Kafka's `auto.leader.rebalance.enable`: a broker is out of balance when more than
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
        for broker_id, places in away.items()
        if len(places) * 100 > imbalance_percentage * owned[broker_id]
        for write in _elected(image, places)
    ]


def _elected(image: ClusterImage, places: list[TopicPartition]) -> Iterator[StateWrite]:
    for place in places:
        topic = image.topics[place.topic]
        # A partition on the move gets its leader when it has arrived.
        if not topic.is_reassigning(place.partition):
            state = decide_preferred(image, topic, place.partition)
            if state is not None:
                yield StateWrite(place, state)
