"""Reads and writes the embedded consumer protocol of classic members, for groups that have members of both
protocols.
"""

from collections.abc import Iterable
from typing import Final

from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartitions, by_topic
from moldau.broker.group.consumer.topic_view import TopicView
from moldau.protocol.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartitions,
)
from moldau.protocol.stored.framing import decode_prefix, encode_versioned

_VERSION_BYTES: Final = 2


def subscription_of(metadata: bytes) -> ConsumerProtocolSubscription:
    """PeerError if the bytes cannot be decoded."""
    return decode_prefix(ConsumerProtocolSubscription, metadata)


def assigned_partitions(assignment: bytes, topics: TopicView) -> TopicIdPartitions:
    """The assigned partitions that exist. A member without an assignment has no bytes."""
    if not assignment:
        return frozenset()
    return named_partitions(decode_prefix(ConsumerProtocolAssignment, assignment).assigned_partitions, topics)


def named_partitions(named: Iterable[TopicPartitions], topics: TopicView) -> TopicIdPartitions:
    found = ((topics.find(each.topic), each.partitions) for each in named)
    return frozenset(
        (topic.topic_id, partition)
        for topic, partitions in found
        if topic is not None
        for partition in partitions
        if 0 <= partition < topic.partition_count
    )


def assignment_bytes(topic_partitions: TopicIdPartitions, topics: TopicView, metadata: bytes) -> bytes:
    """In the version of the member's subscription."""
    named = ((topics.name_of(topic_id), partitions) for topic_id, partitions in by_topic(topic_partitions))
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[
            TopicPartitions(topic=name, partitions=partitions)
            for name, partitions in named
            if name is not None
        ]
    )
    version = int.from_bytes(metadata[:_VERSION_BYTES], "big", signed=True)
    return encode_versioned(assignment, min(version, ConsumerProtocolAssignment.VERSIONS.high))
