"""ConsumerGroupDescribe."""

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.consumer.consumer_member import ConsumerMember
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartitions, by_topic
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)

_CLASSIC, _CONSUMER = 0, 1


def consumer_group_describe(
    state: ShardState, call: Call, request: ConsumerGroupDescribeRequest
) -> GroupOutcome:
    groups = []
    for group_id in request.group_ids:
        group = state.consumer(group_id)
        if group is not None:
            groups.append(_described(state, group))
        else:
            why = "not found" if group_id not in state.groups else "is not a consumer group"
            error = ErrorCode.GROUP_ID_NOT_FOUND
            groups.append(describe_refused(group_id, error, f"Group {group_id} {why}."))
    return call.answered(ConsumerGroupDescribeResponse(groups=groups))


def describe_refused(group_id: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    return DescribedGroup(
        error_code=error,
        error_message=message,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def _described(state: ShardState, group: ConsumerGroup) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.preferred_assignor(state.consumer_settings(group.group_id).assignors),
        members=[_member(state, group, member) for member in group.members.values()],
    )


def _member(state: ShardState, group: ConsumerGroup, member: ConsumerMember) -> Member:
    profile = member.profile
    return Member(
        member_id=member.member_id,
        instance_id=profile.instance_id,
        rack_id=profile.rack_id,
        member_epoch=member.epoch,
        client_id=profile.client_id,
        client_host=profile.client_host,
        subscribed_topic_names=sorted(profile.topic_names),
        subscribed_topic_regex=profile.topic_regex,
        assignment=_assignment(state, member.assigned),
        target_assignment=_assignment(state, group.target_of(member.member_id)),
        member_type=_CLASSIC if member.is_classic else _CONSUMER,
    )


def _assignment(state: ShardState, topic_partitions: TopicIdPartitions) -> Assignment:
    """Deleted topics are left out: they have no name any more."""
    named = (
        (topic_id, state.topics.name_of(topic_id), numbers)
        for topic_id, numbers in by_topic(topic_partitions)
    )
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=name, partitions=numbers)
            for topic_id, name, numbers in named
            if name is not None
        ]
    )
