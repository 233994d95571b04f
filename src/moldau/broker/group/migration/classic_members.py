"""Classic members of a consumer group: translates their requests into the consumer protocol (KIP-848).

To them the group seems to rebalance in single steps. A heartbeat asks them to rejoin, JoinGroup is answered
at once with their epoch as the generation, and SyncGroup with their partitions at that epoch. No member is
leader.
"""

from dataclasses import replace

from moldau.broker.group.classic.join import Join, decide_join
from moldau.broker.group.classic.join_replies import join_refused
from moldau.broker.group.classic.rebalance import start_rebalance
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_facts import StepAwaited
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.consumer.consumer_member import (
    ClassicSide,
    ConsumerMember,
    MemberState,
    Profile,
    Step,
)
from moldau.broker.group.consumer.departures import continue_without_removed, remove_with_reason
from moldau.broker.group.consumer.entry import check_member, check_room, record_profile, take_over
from moldau.broker.group.consumer.reconciliation import reconcile
from moldau.broker.group.consumer.target import assign_if_due
from moldau.broker.group.consumer.topics import has_seen_all_topics, renew_epoch
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.migration.downgrade import downgraded
from moldau.broker.group.migration.embedded import assignment_bytes, named_partitions, subscription_of
from moldau.broker.group.timers import RebalanceTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import JoinGroupResponse
from moldau.protocol.messages.groups.leave_group import MemberIdentity
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupResponse
from moldau.protocol.stored.consumer_protocol import CONSUMER_PROTOCOL_TYPE, ConsumerProtocolSubscription


def join_as_classic(draft: ConsumerDraft, join: Join) -> None:
    """ApiError if the member may not join."""
    request, group = join.request, draft.group
    member_id = request.member_id or join.new_member_id
    instance_id = request.group_instance_id
    holder = None if instance_id is None else group.static_member(instance_id)
    if member_id not in group.members:
        check_room(draft, holder)
    subscription = _subscription(group, join)
    if not request.member_id and instance_id is None and join.needs_member_id:
        draft.answer(join.request_id, join_refused(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        return
    before = _member_to_be(draft, request.member_id, member_id, instance_id, holder)
    changed = record_profile(draft, before, _profile(join, subscription))
    others = [member for member in draft.group.members.values() if member.member_id != member_id]
    classic = downgraded(draft)
    if classic is not None:
        if not all(member.is_settled_at(group.epoch) for member in others):
            # Members of a classic group do not wait for partitions that others have not given up.
            start_rebalance(classic)
        rejoined = replace(join, request=replace(request, member_id=member_id))
        decide_join(classic, rejoined, group_exists=True)
        draft.add_outcome(classic.outcome())
        return
    if changed or not has_seen_all_topics(draft):
        renew_epoch(draft, members_changed=changed)
    assign_if_due(draft)
    owned = named_partitions(subscription.owned_partitions, draft.topics)
    member = reconcile(draft, member_id, owned, subscription_changed=changed)
    _await(draft, member, Step.SYNC)
    draft.expect(member)
    draft.answer(join.request_id, _joined(member))


def _subscription(group: ConsumerGroup, join: Join) -> ConsumerProtocolSubscription:
    """All protocols that a consumer offers carry the same subscription."""
    others = [member.profile.classic for member in group.members.values() if member.profile.classic]
    names = [name for name, _ in join.protocols]
    common = any(all(name in dict(other.protocols) for other in others) for name in names)
    if join.request.protocol_type != CONSUMER_PROTOCOL_TYPE or not common:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    try:
        return subscription_of(join.protocols[0].metadata)
    except PeerError:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None


def _member_to_be(
    draft: ConsumerDraft,
    claimed_id: str,
    member_id: str,
    instance_id: str | None,
    holder: ConsumerMember | None,
) -> ConsumerMember:
    if instance_id is not None and claimed_id:
        check_member(draft, member_id, instance_id)
    elif holder is not None:
        return take_over(draft, holder, member_id)
    return draft.group.members.get(member_id) or ConsumerMember(member_id)


def _profile(join: Join, subscription: ConsumerProtocolSubscription) -> Profile:
    member = join.member(join.new_member_id)
    return Profile(
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        topic_names=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
    )


def _await(draft: ConsumerDraft, member: ConsumerMember, step: Step | None) -> None:
    draft.record(StepAwaited(draft.group_id, member.member_id, step))
    key = RebalanceTimer(draft.group_id, member.member_id)
    if step is None:
        draft.cancel(key)
    else:
        draft.time(key, member.profile.rebalance_timeout_ms)


def _joined(member: ConsumerMember) -> JoinGroupResponse:
    assert member.profile.classic is not None
    return JoinGroupResponse(
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=member.profile.classic.protocols[0].name,
        leader="",
        member_id=member.member_id,
        members=[],
    )


def sync_as_classic(draft: ConsumerDraft, request: SyncGroupRequest) -> SyncGroupResponse:
    """ApiError if the member has no assignment yet."""
    member, side = _classic(draft, request.member_id, request.group_instance_id, request.generation_id)
    protocol = side.protocols[0]
    agrees_on_type = request.protocol_type in (None, CONSUMER_PROTOCOL_TYPE)
    if not agrees_on_type or request.protocol_name not in (None, protocol.name):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    # A member that must give up partitions has already joined in the new epoch; it learns here which ones.
    if draft.group.epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
    _await(draft, member, None)
    draft.expect(member)
    return SyncGroupResponse(
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=protocol.name,
        assignment=assignment_bytes(member.assigned, draft.topics, protocol.metadata),
    )


def heartbeat_as_classic(draft: ConsumerDraft, request: HeartbeatRequest) -> ErrorCode:
    """ApiError if there is no such member."""
    member, _ = _classic(draft, request.member_id, request.group_instance_id, request.generation_id)
    draft.expect(member)
    if not _must_rejoin(draft.group, member):
        return ErrorCode.NONE
    if member.awaited is not Step.JOIN:
        _await(draft, member, Step.JOIN)
    return ErrorCode.REBALANCE_IN_PROGRESS


def _must_rejoin(group: ConsumerGroup, member: ConsumerMember) -> bool:
    if member.epoch < group.epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    missing = group.target_of(member.member_id) - member.assigned
    waits = member.state is MemberState.UNRELEASED_PARTITIONS
    return waits and not group.held_by_others(member.member_id, missing)


def leave_as_classic(draft: ConsumerDraft, leaving: list[MemberIdentity]) -> list[ErrorCode]:
    errors = []
    for identity in leaving:
        try:
            remove_with_reason(draft, _leaving(draft, identity), ChangeKind.LEFT, identity.reason or "")
            errors.append(ErrorCode.NONE)
        except ApiError as error:
            errors.append(error.code)
    if ErrorCode.NONE in errors:
        continue_without_removed(draft)
    return errors


def _leaving(draft: ConsumerDraft, identity: MemberIdentity) -> ConsumerMember:
    member_id, instance_id = identity.member_id, identity.group_instance_id
    if not member_id and instance_id is not None:
        # A tool removes a static member by its instance id, whatever its member id (KIP-345).
        holder = draft.group.static_member(instance_id)
        member_id = "" if holder is None else holder.member_id
    member = draft.group.members[check_member(draft, member_id, instance_id)]
    if not member.is_classic:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member


def _classic(
    draft: ConsumerDraft, member_id: str, instance_id: str | None, generation_id: int
) -> tuple[ConsumerMember, ClassicSide]:
    member = draft.group.members[check_member(draft, member_id, instance_id)]
    if member.profile.classic is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    if generation_id != member.epoch:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    return member, member.profile.classic
