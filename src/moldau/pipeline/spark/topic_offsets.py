"""Asks the broker which topics exist, and for the first and end offsets as a read_committed consumer sees them."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.pipeline.spark.positions import Positions

ANSWER_S_MAX: Final = 30.0


class TopicFacts(NamedTuple):
    topic_id: str
    partitions: int


def topic_facts(admin: AdminClient, topics: Iterable[str]) -> dict[str, TopicFacts]:
    """Leaves out topics that do not exist."""
    wanted = sorted(set(topics))
    if not wanted:
        return {}
    described = admin.describe_topics(TopicCollection(wanted), request_timeout=ANSWER_S_MAX)
    found = {}
    for name, future in described.items():
        try:
            topic = future.result(ANSWER_S_MAX)
        except KafkaException as failure:
            if failure.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                continue
            raise
        found[name] = TopicFacts(str(topic.topic_id), len(topic.partitions))
    return found


def end_offsets(admin: AdminClient, partitions: Mapping[str, int]) -> Positions:
    """The last stable offsets. `topics` maps each topic to its number of partitions."""
    return _offsets(admin, partitions, OffsetSpec.latest())


def first_offsets(admin: AdminClient, partitions: Mapping[str, int]) -> Positions:
    return _offsets(admin, partitions, OffsetSpec.earliest())


def _offsets(admin: AdminClient, partitions: Mapping[str, int], spec: OffsetSpec) -> Positions:
    asked = {
        TopicPartition(topic, partition): spec
        for topic, count in partitions.items()
        for partition in range(count)
    }
    if not asked:
        return {}
    answers = admin.list_offsets(
        asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=ANSWER_S_MAX
    )
    positions: Positions = {topic: {} for topic in partitions}
    for place, future in answers.items():
        try:
            positions[place.topic][place.partition] = future.result(ANSWER_S_MAX).offset
        except KafkaException as failure:
            # The topic was deleted a moment ago: the check of topic ids will report it.
            if failure.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
    return positions
