"""JoinGroup in a classic group: who may join, under which id, and whether that starts a rebalance."""

from dataclasses import dataclass, replace
from typing import Final

from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState, Member
from moldau.broker.group.classic.join_replies import join_refused, joined, joined_as_follower, sync_refused
from moldau.broker.group.classic.rebalance import (
    complete_join_if_all_are_here,
    rebalance,
    remove_member,
    saved,
    start_rebalance,
)
from moldau.broker.group.classic.subscriptions import GroupProtocol, subscription_change
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import (
    MemberAdded,
    MemberIdGiven,
    MemberIdWithdrawn,
    MemberReplaced,
    MemberUpdated,
)
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.settings import PENDING_MEMBERS_MAX, GroupSettings
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.join_group import JoinGroupRequest

_WHY_LEADERS_REJOIN: Final = "leaders do so when topics they read, or their partition counts, have changed"


@dataclass(frozen=True, slots=True)
class Join:
    """A JoinGroup request with its context."""

    request_id: int
    request: JoinGroupRequest
    client: ClientFacts
    new_member_id: str
    """For a member that joins without an id."""
    needs_member_id: bool
    """From v4 on a dynamic member gets an id first and joins again with it (KIP-394)."""
    knows_skip_assignment: bool
    """From v9 on a leader can be told to skip the assignment (KIP-814)."""

    @property
    def protocols(self) -> tuple[GroupProtocol, ...]:
        # Kafka keeps them in a set: of two with the same name the first counts.
        by_name: dict[str, bytes] = {}
        for protocol in self.request.protocols:
            by_name.setdefault(protocol.name, protocol.metadata)
        return tuple(GroupProtocol(name, metadata) for name, metadata in by_name.items())

    def member(self, member_id: str) -> Member:
        request = self.request
        no_timeout = request.rebalance_timeout_ms == -1
        return Member(
            member_id=member_id,
            instance_id=request.group_instance_id,
            client_id=self.client.client_id,
            client_host=self.client.host,
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.session_timeout_ms if no_timeout else request.rebalance_timeout_ms,
            protocols=self.protocols,
            joining=self.request_id,
        )


def decide_join(draft: ClassicDraft, join: Join, *, group_exists: bool) -> None:
    request, group = join.request, draft.group
    error = join_error(draft.settings, request)
    if error is ErrorCode.NONE and request.member_id and not group_exists:
        error = ErrorCode.UNKNOWN_MEMBER_ID
    if error is not ErrorCode.NONE:
        draft.answer(join.request_id, join_refused(error, request.member_id))
        return
    if not _has_room(draft, group, request.member_id):
        _refuse_for_size(draft, join)
        return
    if not group.supports(request.protocol_type, [name for name, _ in join.protocols]):
        error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        draft.answer(join.request_id, join_refused(error, request.member_id))
        return
    if not group_exists:
        draft.record(saved(replace(group, state_since_ms=draft.now_ms)))
    if request.member_id:
        _join_again(draft, join)
    else:
        _join_first(draft, join)


def join_error(settings: GroupSettings, request: JoinGroupRequest) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    timeout_ms = request.session_timeout_ms
    if not settings.session_timeout_min_ms <= timeout_ms <= settings.session_timeout_max_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE


def _has_room(draft: ClassicDraft, group: ClassicGroup, member_id: str) -> bool:
    size_max = draft.settings.group_size_max
    if len(group.pending_joins) >= PENDING_MEMBERS_MAX and member_id not in group.pending_joins:
        return member_id in group.members
    if group.is_empty:
        return True
    member = group.members.get(member_id)
    if group.state is ClassicState.PREPARING_REBALANCE:
        # Counts waiting members, not all members: a group above the limit shrinks to those who join first.
        return (member is not None and member.joining is not None) or group.members_joining < size_max
    return member is not None or len(group.members) < size_max


def _refuse_for_size(draft: ClassicDraft, join: Join) -> None:
    draft.answer(join.request_id, join_refused(ErrorCode.GROUP_MAX_SIZE_REACHED, ""))
    member = draft.group.members.get(join.request.member_id)
    if member is not None:
        remove_member(draft, member, ChangeKind.GROUP_TOO_LARGE)
    elif join.request.member_id in draft.group.pending_joins:
        draft.record(MemberIdWithdrawn(draft.group.group_id, join.request.member_id))
    complete_join_if_all_are_here(draft)


def _join_first(draft: ClassicDraft, join: Join) -> None:
    group, instance_id = draft.group, join.request.group_instance_id
    if instance_id is not None:
        known = group.static_member_id(instance_id)
        if known is not None:
            _return_of_static_member(draft, join, group.members[known])
        else:
            _add(draft, join, join.new_member_id)
    elif join.needs_member_id:
        draft.record(MemberIdGiven(group.group_id, join.new_member_id))
        draft.expect(join.member(join.new_member_id))
        draft.answer(join.request_id, join_refused(ErrorCode.MEMBER_ID_REQUIRED, join.new_member_id))
    else:
        _add(draft, join, join.new_member_id)


def _add(draft: ClassicDraft, join: Join, member_id: str) -> None:
    member = replace(join.member(member_id), is_new=True)
    draft.note(ChangeKind.JOINED, member, join.request.reason)
    draft.record(MemberAdded(draft.group.group_id, member, join.request.protocol_type))
    draft.expect(member)
    rebalance(draft)


def _join_again(draft: ClassicDraft, join: Join) -> None:
    group, request = draft.group, join.request
    if request.member_id in group.pending_joins and request.group_instance_id is None:
        _add(draft, join, request.member_id)
        return
    error = group.member_error(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        draft.answer(join.request_id, join_refused(error, request.member_id))
        return
    member = group.members[request.member_id]
    unchanged = member.protocols == join.protocols
    leads = group.leader == member.member_id
    if group.state is ClassicState.PREPARING_REBALANCE:
        _update(draft, join, member)
        complete_join_if_all_are_here(draft)
    elif unchanged and (group.state is ClassicState.COMPLETING_REBALANCE or not leads):
        # The first answer may have been lost.
        draft.answer(join.request_id, joined(group, member))
        draft.expect(member)
    else:
        _update(draft, join, member)
        start_rebalance(draft)


def _update(draft: ClassicDraft, join: Join, member: Member) -> None:
    group = draft.group
    if member.joining is not None:
        # A client repeats the request only over a new connection, so nobody reads the answer to the old one.
        draft.answer(member.joining, join_refused(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id))
    if member.protocols != join.protocols:
        draft.note(
            ChangeKind.SUBSCRIPTION_CHANGED, member, subscription_change(member.protocols, join.protocols)
        )
    elif group.state is ClassicState.STABLE:
        draft.note(ChangeKind.LEADER_REJOINED, member, join.request.reason or _WHY_LEADERS_REJOIN)
    joining = join.member(member.member_id)
    draft.record(
        MemberUpdated(
            group.group_id,
            replace(
                member,
                protocols=joining.protocols,
                session_timeout_ms=joining.session_timeout_ms,
                rebalance_timeout_ms=joining.rebalance_timeout_ms,
                joining=join.request_id,
            ),
        )
    )


def _return_of_static_member(draft: ClassicDraft, join: Join, before: Member) -> None:
    """A static member restarted and lost its id. It replaces its former self, which is fenced."""
    group = draft.group
    if before.joining is not None:
        draft.answer(before.joining, join_refused(ErrorCode.FENCED_INSTANCE_ID, before.member_id))
    if before.syncing is not None:
        draft.answer(before.syncing, sync_refused(ErrorCode.FENCED_INSTANCE_ID))
    leader_before = group.leader or ""
    member = replace(join.member(join.new_member_id), assignment=before.assignment)
    draft.record(MemberReplaced(group.group_id, before.member_id, member))
    draft.expect(member)
    if group.state is ClassicState.STABLE and draft.group.chosen_protocol() == group.protocol_name:
        _settle_without_rebalance(draft, join, member, leader_before)
        return
    draft.note(ChangeKind.STATIC_MEMBER_REPLACED, member, join.request.reason)
    rebalance(draft)


def _settle_without_rebalance(draft: ClassicDraft, join: Join, member: Member, leader_before: str) -> None:
    draft.note(ChangeKind.STATIC_MEMBER_RETURNED, member, join.request.reason)
    draft.record(saved(draft.group))
    leads = draft.group.leader == member.member_id
    if join.knows_skip_assignment:
        reply = joined(draft.group, member, skip_assignment=leads)
    else:
        # An old client that is leader would assign again, so it gets its former member id as leader.
        reply = joined_as_follower(draft.group, member, leader_before)
    draft.answer(join.request_id, reply)
