"""The requests of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

Each finds the group, lets the decider of its kind draft what happens, and says so.
"""

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.classic_draft import ClassicDraft
from moldau.broker.group.classic_group import ClassicGroup
from moldau.broker.group.classic_join import Join, decide_join
from moldau.broker.group.classic_replies import sync_refused
from moldau.broker.group.classic_sessions import decide_heartbeat, decide_leave, leaving_members, left
from moldau.broker.group.classic_sync import decide_sync
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.join_group import JoinGroupRequest
from moldau.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from moldau.protocol.messages.sync_group import SyncGroupRequest

_MEMBER_ID_REQUIRED_VERSION = 4
_SKIP_ASSIGNMENT_VERSION = 9


def join_group(state: ShardState, call: Call, request: JoinGroupRequest) -> GroupOutcome:
    group = state.classic(request.group_id)
    draft = ClassicDraft(group or ClassicGroup(request.group_id), state.settings, call.now_ms)
    name = call.client.client_id if request.group_instance_id is None else request.group_instance_id
    join = Join(
        request_id=call.request_id,
        request=request,
        client=call.client,
        new_member_id=f"{name}-{call.new_id}",
        needs_member_id=call.version >= _MEMBER_ID_REQUIRED_VERSION,
        knows_skip_assignment=call.version >= _SKIP_ASSIGNMENT_VERSION,
    )
    decide_join(draft, join, group_exists=group is not None)
    return draft.outcome()


def sync_group(state: ShardState, call: Call, request: SyncGroupRequest) -> GroupOutcome:
    group = state.classic(request.group_id)
    if group is None or not request.group_id:
        return call.answered(sync_refused(_error_without_group(request.group_id)))
    draft = ClassicDraft(group, state.settings, call.now_ms)
    decide_sync(draft, call.request_id, request)
    return draft.outcome()


def heartbeat(state: ShardState, call: Call, request: HeartbeatRequest) -> GroupOutcome:
    group = state.classic(request.group_id)
    if group is None or not request.group_id:
        return call.answered(HeartbeatResponse(error_code=_error_without_group(request.group_id)))
    draft = ClassicDraft(group, state.settings, call.now_ms)
    decide_heartbeat(draft, call.request_id, request)
    return draft.outcome()


def leave_group(state: ShardState, call: Call, request: LeaveGroupRequest) -> GroupOutcome:
    if not request.group_id:
        return call.answered(LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
    leaving = leaving_members(request, call.version)
    group = state.classic(request.group_id)
    if group is None:
        errors = [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving)
        return call.answered(left(leaving, errors, call.version))
    draft = ClassicDraft(group, state.settings, call.now_ms)
    decide_leave(draft, call.request_id, leaving, call.version)
    return draft.outcome()


def _error_without_group(group_id: str) -> ErrorCode:
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID
