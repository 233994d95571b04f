"""The facts about consumer groups (KIP-848): one for each of Kafka's records, and volatile ones.

A durable fact without a value is a tombstone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.broker.group.consumer.consumer_member import Step
from moldau.broker.group.consumer.topic_view import TopicInfo
from moldau.core.ids import Millis
from moldau.protocol.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
)


@dataclass(frozen=True, slots=True)
class EpochRecorded:
    """The group exists and has this epoch. Without a value: the group is removed."""

    group_id: str
    value: ConsumerGroupMetadataValue | None


@dataclass(frozen=True, slots=True)
class PartitionMetadataRecorded:
    """Written only before Kafka 4.1; the next epoch removes it."""

    group_id: str
    value: ConsumerGroupPartitionMetadataValue | None


@dataclass(frozen=True, slots=True)
class ProfileRecorded:
    group_id: str
    member_id: str
    value: ConsumerGroupMemberMetadataValue | None


@dataclass(frozen=True, slots=True)
class TargetEpochRecorded:
    group_id: str
    value: ConsumerGroupTargetAssignmentMetadataValue | None


@dataclass(frozen=True, slots=True)
class TargetRecorded:
    group_id: str
    member_id: str
    value: ConsumerGroupTargetAssignmentMemberValue | None


@dataclass(frozen=True, slots=True)
class CurrentRecorded:
    group_id: str
    member_id: str
    value: ConsumerGroupCurrentMemberAssignmentValue | None


@dataclass(frozen=True, slots=True)
class RegexRecorded:
    group_id: str
    regular_expression: str
    value: ConsumerGroupRegularExpressionValue | None


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    """The state of the topics at the group's last check."""

    group_id: str
    version: int
    topics: Mapping[str, TopicInfo]
    at_ms: Millis


@dataclass(frozen=True, slots=True)
class StepAwaited:
    """A member of the classic protocol must take this step before its timer fires. Without a step nothing is
    due."""

    group_id: str
    member_id: str
    step: Step | None


DurableConsumerFact = (
    EpochRecorded
    | PartitionMetadataRecorded
    | ProfileRecorded
    | TargetEpochRecorded
    | TargetRecorded
    | CurrentRecorded
    | RegexRecorded
)
ConsumerFact = DurableConsumerFact | TopicsSeen | StepAwaited
