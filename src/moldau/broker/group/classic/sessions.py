"""The sessions of members of a classic group: Heartbeat, LeaveGroup, and session timeouts."""

from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import ClassicState
from moldau.broker.group.classic.rebalance import complete_join_if_all_are_here, rebalance, remove_member
from moldau.broker.group.facts import MemberIdWithdrawn
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.settings import NEW_MEMBER_JOIN_TIMEOUT_MS
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.groups.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)


def decide_heartbeat(draft: ClassicDraft, request_id: int, request: HeartbeatRequest) -> None:
    group = draft.group
    error = group.member_error(request.member_id, request.group_instance_id)
    if error is ErrorCode.NONE and request.generation_id != group.generation_id:
        error = ErrorCode.ILLEGAL_GENERATION
    if error is ErrorCode.NONE:
        draft.expect(group.members[request.member_id])
        if group.state is ClassicState.PREPARING_REBALANCE:
            error = ErrorCode.REBALANCE_IN_PROGRESS
    draft.answer(request_id, HeartbeatResponse(error_code=error))


def decide_leave(draft: ClassicDraft, request_id: int, leaving: list[MemberIdentity], version: int) -> None:
    members_before = draft.group.members.keys()
    errors = [_leave(draft, member) for member in leaving]
    draft.answer(request_id, left(leaving, errors, version))
    if draft.group.members.keys() != members_before:
        rebalance(draft)
    else:
        complete_join_if_all_are_here(draft)


def leaving_members(request: LeaveGroupRequest, version: int) -> list[MemberIdentity]:
    return list(request.members) if version >= 3 else [MemberIdentity(member_id=request.member_id)]


def left(leaving: list[MemberIdentity], errors: list[ErrorCode], version: int) -> LeaveGroupResponse:
    if version < 3:
        return LeaveGroupResponse(error_code=errors[0])
    members = [
        MemberResponse(
            member_id=member.member_id, group_instance_id=member.group_instance_id, error_code=error
        )
        for member, error in zip(leaving, errors, strict=True)
    ]
    return LeaveGroupResponse(members=members)


def _leave(draft: ClassicDraft, leaving: MemberIdentity) -> ErrorCode:
    group, member_id = draft.group, leaving.member_id
    if member_id in group.pending_joins:
        draft.record(MemberIdWithdrawn(group.group_id, member_id))
        return ErrorCode.NONE
    if not member_id and leaving.group_instance_id is not None:
        # A tool removes a static member by its instance id, whatever its member id (KIP-345).
        member_id = group.static_member_id(leaving.group_instance_id) or ""
    error = group.member_error(member_id, leaving.group_instance_id)
    if error is ErrorCode.NONE:
        remove_member(draft, group.members[member_id], ChangeKind.LEFT, leaving.reason)
    return error


def decide_session_timer(draft: ClassicDraft, member_id: str) -> None:
    group = draft.group
    member = group.members.get(member_id)
    if member_id in group.pending_joins:
        draft.record(MemberIdWithdrawn(group.group_id, member_id))
        complete_join_if_all_are_here(draft)
        return
    if member is None:
        return
    # A member that waits for our answer cannot send heartbeats, so its session restarts with the answer. A
    # new member is the exception: its client may be gone without notice, so its wait is limited.
    if member.is_new:
        silence = f"its JoinGroup waited {NEW_MEMBER_JOIN_TIMEOUT_MS} ms"
    elif member.joining is None and member.syncing is None:
        silence = f"no heartbeat for {member.session_timeout_ms} ms"
    else:
        return
    remove_member(draft, member, ChangeKind.SESSION_TIMED_OUT, silence)
    rebalance(draft)
