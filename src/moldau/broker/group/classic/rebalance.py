"""The steps of a rebalance in a classic group, shared by all deciders.

The join phase ends when every member has sent JoinGroup, or at the timeout. The sync phase waits for the
leader's assignment. Each step reads and extends a draft.
"""

from dataclasses import replace

from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import (
    PREVIOUS,
    ClassicGroup,
    ClassicState,
    InitialDelay,
    Member,
)
from moldau.broker.group.classic.join_replies import join_refused, joined, sync_refused
from moldau.broker.group.facts import (
    GenerationFormed,
    GroupSaved,
    InitialDelayExtended,
    MemberRemoved,
    RebalanceStarted,
)
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.timers import JoinTimer, SyncTimer
from moldau.core.error_codes import ErrorCode
from moldau.protocol.stored.classic_groups import GroupMetadataValue, MemberMetadata


def rebalance(draft: ClassicDraft) -> None:
    """The members have changed: starts a rebalance, or continues the one under way."""
    if draft.group.state in PREVIOUS[ClassicState.PREPARING_REBALANCE]:
        start_rebalance(draft)
    else:
        complete_join_if_all_are_here(draft)


def start_rebalance(draft: ClassicDraft) -> None:
    group = draft.group
    for member in group.members.values():
        if member.syncing is not None:
            draft.answer(member.syncing, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
            draft.expect(member)
    if group.is_empty:
        delay_ms = draft.settings.initial_rebalance_delay_ms
        remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        draft.record(RebalanceStarted(group.group_id, draft.now_ms, InitialDelay(delay_ms, remaining_ms)))
        draft.time(JoinTimer(group.group_id), delay_ms)
        return
    draft.record(RebalanceStarted(group.group_id, draft.now_ms))
    if draft.group.has_all_joined:
        complete_join(draft)
    else:
        draft.time(JoinTimer(group.group_id), draft.group.rebalance_timeout_ms)


def complete_join_if_all_are_here(draft: ClassicDraft) -> None:
    group = draft.group
    preparing = group.state is ClassicState.PREPARING_REBALANCE
    if preparing and group.initial_delay is None and group.has_all_joined:
        complete_join(draft)


def decide_join_timer(draft: ClassicDraft) -> None:
    group = draft.group
    if group.state is not ClassicState.PREPARING_REBALANCE:
        return
    delay = group.initial_delay
    if delay is None or not delay.member_added or delay.remaining_ms == 0:
        complete_join(draft)
        return
    # Members are still joining: wait again, in total up to the longest rebalance timeout (KIP-134).
    delay_ms = min(draft.settings.initial_rebalance_delay_ms, delay.remaining_ms)
    remaining_ms = max(delay.remaining_ms - delay.delay_ms, 0)
    draft.record(InitialDelayExtended(group.group_id, InitialDelay(delay_ms, remaining_ms)))
    draft.time(JoinTimer(group.group_id), delay_ms)


def complete_join(draft: ClassicDraft) -> None:
    """Ends the join phase with the members that have joined. Absent static members are kept (KIP-345)."""
    for member in draft.group.members.values():
        if member.joining is None and member.instance_id is None:
            remove_member(draft, member, ChangeKind.DID_NOT_REJOIN)
    group = draft.group
    if not group.members:
        draft.record(
            saved(replace(group, generation_id=group.generation_id + 1, state_since_ms=draft.now_ms))
        )
        return
    leader = _leader_here(group)
    if leader is None:
        # All remaining members are static and absent. Their sessions will expire, or one returns and becomes
        # leader.
        draft.time(JoinTimer(group.group_id), group.rebalance_timeout_ms)
        return
    formed = GenerationFormed(
        group.group_id, group.generation_id + 1, group.chosen_protocol(), leader, draft.now_ms
    )
    draft.record(formed)
    for member in group.members.values():
        if member.joining is not None:
            draft.answer(member.joining, joined(draft.group, member))
        draft.expect(draft.group.members[member.member_id])
    draft.time(SyncTimer(group.group_id), group.rebalance_timeout_ms)


def _leader_here(group: ClassicGroup) -> str | None:
    """The leader stays leader if it has rejoined. Otherwise it is the first member that has."""
    leader = group.members.get(group.leader or "")
    if leader is not None and leader.joining is not None:
        return leader.member_id
    return next((member.member_id for member in group.members.values() if member.joining is not None), None)


def remove_member(
    draft: ClassicDraft,
    member: Member,
    kind: ChangeKind,
    detail: str | None = None,
    error: ErrorCode = ErrorCode.UNKNOWN_MEMBER_ID,
) -> None:
    """Removes a member and answers its waiting request, so that a live client knows it must join again."""
    if member.joining is not None:
        draft.answer(member.joining, join_refused(error, ""))
    if member.syncing is not None:
        draft.answer(member.syncing, sync_refused(error))
    draft.note(kind, member, detail)
    draft.record(MemberRemoved(draft.group.group_id, member.member_id))


def saved(group: ClassicGroup) -> GroupSaved:
    """The group as it will be stored. Without members it is empty and has neither protocol nor leader."""
    protocol = group.protocol_name if group.members else None
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(protocol or "") or b"",
            assignment=member.assignment,
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=protocol,
        leader=group.leader if group.members else None,
        current_state_timestamp=-1 if group.state_since_ms is None else group.state_since_ms,
        members=members,
    )
    return GroupSaved(group.group_id, value)
