"""Converts members of a consumer group to the values of their records, and back."""

from moldau.broker.group.classic.subscriptions import GroupProtocol
from moldau.broker.group.consumer.consumer_facts import CurrentRecorded, ProfileRecorded, TargetRecorded
from moldau.broker.group.consumer.consumer_member import ClassicSide, ConsumerMember, Profile
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartitions, by_topic
from moldau.protocol.stored.consumer_groups import (
    AssignedTopicPartitions,
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupTargetAssignmentMemberValue,
)


def profile_recorded(group_id: str, member: ConsumerMember) -> ProfileRecorded:
    profile, classic = member.profile, member.profile.classic
    stored_classic = None
    if classic is not None:
        protocols = [ClassicProtocol(name=name, metadata=metadata) for name, metadata in classic.protocols]
        stored_classic = ClassicMemberMetadata(
            session_timeout_ms=classic.session_timeout_ms, supported_protocols=protocols
        )
    value = ConsumerGroupMemberMetadataValue(
        instance_id=profile.instance_id,
        rack_id=profile.rack_id,
        client_id=profile.client_id,
        client_host=profile.client_host,
        subscribed_topic_names=sorted(profile.topic_names),
        subscribed_topic_regex=profile.topic_regex,
        rebalance_timeout_ms=profile.rebalance_timeout_ms,
        server_assignor=profile.server_assignor,
        classic_member_metadata=stored_classic,
    )
    return ProfileRecorded(group_id, member.member_id, value)


def profile_of(value: ConsumerGroupMemberMetadataValue) -> Profile:
    stored = value.classic_member_metadata
    classic = None
    if stored is not None:
        protocols = tuple(GroupProtocol(each.name, each.metadata) for each in stored.supported_protocols)
        classic = ClassicSide(stored.session_timeout_ms, protocols)
    return Profile(
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topic_names=frozenset(value.subscribed_topic_names),
        topic_regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        server_assignor=value.server_assignor,
        classic=classic,
    )


def target_recorded(group_id: str, member_id: str, target: TopicIdPartitions) -> TargetRecorded:
    value = ConsumerGroupTargetAssignmentMemberValue(topic_partitions=_stored(target))
    return TargetRecorded(group_id, member_id, value)


def current_recorded(group_id: str, member: ConsumerMember) -> CurrentRecorded:
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_stored(member.assigned),
        partitions_pending_revocation=_stored(member.revoking),
    )
    return CurrentRecorded(group_id, member.member_id, value)


def _stored(topic_partitions: TopicIdPartitions) -> list[AssignedTopicPartitions]:
    return [
        AssignedTopicPartitions(topic_id=topic_id, partitions=partitions)
        for topic_id, partitions in by_topic(topic_partitions)
    ]
