"""Turns a classic group into a consumer group when the first member of the consumer protocol joins (KIP-848).

An empty group is simply replaced. Members of a group stay with their last assignment and continue with the
classic protocol; `classic_members` serves them.
"""

from moldau.broker.group.call import Call
from moldau.broker.group.classic.classic_group import ClassicGroup, Member
from moldau.broker.group.classic.join_replies import join_refused, sync_refused
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_facts import EpochRecorded, TargetEpochRecorded
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.consumer.consumer_member import ClassicSide, ConsumerMember, Profile
from moldau.broker.group.consumer.member_values import current_recorded, profile_recorded, target_recorded
from moldau.broker.group.consumer.topic_hash import topics_hash
from moldau.broker.group.consumer.topic_id_partitions import NO_PARTITIONS, TopicIdPartitions
from moldau.broker.group.facts import GroupRemoved, ProtocolChanged
from moldau.broker.group.migration.embedded import assigned_partitions, subscription_of
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import JoinTimer, SessionTimer, SyncTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError
from moldau.protocol.stored.consumer_groups import (
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMetadataValue,
)


def draft_to_join(state: ShardState, call: Call, group_id: str) -> ConsumerDraft:
    """The draft of the consumer group: an existing one, a new one, or one converted from a classic group."""
    group = state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return ConsumerDraft(group, state, call.now_ms)
    draft = ConsumerDraft(ConsumerGroup(group_id), state, call.now_ms)
    if isinstance(group, ClassicGroup):
        if group.is_empty:
            _give_way(draft, group)
        else:
            _upgrade(draft, group)
    return draft


def _give_way(draft: ConsumerDraft, group: ClassicGroup) -> None:
    draft.add(GroupRemoved(group.group_id))
    for member_id in sorted(group.pending_joins):
        draft.cancel(SessionTimer(group.group_id, member_id))


def _upgrade(draft: ConsumerDraft, group: ClassicGroup) -> None:
    _check(draft, group)
    try:
        members = _consumer_members(draft, group)
    except PeerError as error:
        raise _refusal(group, f"what its members say of themselves cannot be read: {error}") from None
    for member in group.members.values():
        if member.joining is not None:
            draft.answer(member.joining, join_refused(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id))
        if member.syncing is not None:
            draft.answer(member.syncing, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
    _give_way(draft, group)
    draft.cancel(JoinTimer(group.group_id))
    draft.cancel(SyncTimer(group.group_id))
    draft.add(ProtocolChanged(group.group_id, draft.now_ms, "consumer"))
    _write(draft, members, group.generation_id)
    for taken in members:
        draft.expect(taken)


def _check(draft: ConsumerDraft, group: ClassicGroup) -> None:
    if not draft.settings.migration.allows_upgrade:
        policy = draft.settings.migration
        raise _refusal(
            group, f"it has members, and group.consumer.migration.policy={policy} keeps it as it is"
        )
    if not group.uses_consumer_protocol:
        raise _refusal(group, f"its members are of type {group.protocol_type!r}")
    if len(group.members) > draft.settings.group_size_max:
        raise _refusal(group, "it has more members than group.consumer.max.size allows")


def _refusal(group: ClassicGroup, why: str) -> ApiError:
    message = f"Group {group.group_id} is not a consumer group: {why}."
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def _consumer_members(draft: ConsumerDraft, group: ClassicGroup) -> list[ConsumerMember]:
    """The members, stable with their last assignments. If two claim a partition, the first gets it."""
    taken: TopicIdPartitions = NO_PARTITIONS
    members = []
    for member in group.members.values():
        assigned = assigned_partitions(member.assignment, draft.topics) - taken
        taken |= assigned
        members.append(
            ConsumerMember(
                member.member_id,
                _profile(group, member),
                epoch=group.generation_id,
                previous_epoch=group.generation_id,
                assigned=assigned,
            )
        )
    return members


def _profile(group: ClassicGroup, member: Member) -> Profile:
    subscription = subscription_of(member.metadata(group.protocol_name or "") or member.protocols[0].metadata)
    return Profile(
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        topic_names=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
    )


def _write(draft: ConsumerDraft, members: list[ConsumerMember], epoch: int) -> None:
    group_id = draft.group_id
    for member in members:
        draft.record(profile_recorded(group_id, member))
    found = {name: draft.topics.find(name) for name in sorted(draft.group.subscribed_topics())}
    known = {name: topic for name, topic in found.items() if topic is not None}
    value = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=topics_hash(known))
    draft.record(EpochRecorded(group_id, value))
    for member in members:
        draft.record(target_recorded(group_id, member.member_id, member.assigned))
    target_epoch = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch)
    draft.record(TargetEpochRecorded(group_id, target_epoch))
    for member in members:
        draft.record(current_recorded(group_id, member))
