"""SyncGroup in a classic group: the leader sends the assignment, every member receives its part."""

from dataclasses import replace

from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState
from moldau.broker.group.classic.join_replies import sync_refused, synced
from moldau.broker.group.classic.rebalance import remove_member, saved, start_rebalance
from moldau.broker.group.facts import SyncReceived
from moldau.broker.group.history.changes import ChangeKind
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest


def decide_sync(draft: ClassicDraft, request_id: int, request: SyncGroupRequest) -> None:
    group = draft.group
    error = _sync_error(group, request)
    if error is not ErrorCode.NONE:
        draft.answer(request_id, sync_refused(error))
        return
    member = group.members[request.member_id]
    if group.state is ClassicState.STABLE:
        draft.record(SyncReceived(group.group_id, member.member_id, waiting=None))
        draft.answer(request_id, synced(group, member))
        draft.expect(member)
        return
    if member.syncing is not None:
        # As with JoinGroup: the client repeated the request over a new connection.
        draft.answer(member.syncing, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
    draft.record(SyncReceived(group.group_id, member.member_id, waiting=request_id))
    if group.leader == member.member_id:
        _assign(draft, request)


def _sync_error(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    error = group.member_error(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    # A member that names no protocol agrees (KIP-559).
    agrees_on_type = request.protocol_type in (None, group.protocol_type)
    agrees_on_name = request.protocol_name in (None, group.protocol_name)
    if not (agrees_on_type and agrees_on_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is ClassicState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _assign(draft: ClassicDraft, request: SyncGroupRequest) -> None:
    """Stores the assignment, which completes the generation and answers all waiting members."""
    group = draft.group
    assignments = {given.member_id: given.assignment for given in request.assignments}
    members = {
        member_id: replace(member, assignment=assignments.get(member_id, b""))
        for member_id, member in group.members.items()
    }
    draft.record(saved(replace(group, members=members, state_since_ms=draft.now_ms)))
    for member in group.members.values():
        if member.syncing is not None:
            draft.answer(member.syncing, synced(draft.group, draft.group.members[member.member_id]))
            draft.expect(member)


def decide_sync_timer(draft: ClassicDraft) -> None:
    """Removes the members that have not sent SyncGroup, so that a silent leader cannot block the group."""
    pending = [
        member for member_id, member in draft.group.members.items() if member_id in draft.group.pending_syncs
    ]
    for member in pending:
        remove_member(draft, member, ChangeKind.DID_NOT_SYNC)
    if pending:
        start_rebalance(draft)
