"""The requests of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

Each finds the group and calls the decider for its kind: a consumer group serves members of the classic
protocol too.
"""

from dataclasses import replace

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import ClassicGroup
from moldau.broker.group.classic.join import Join, decide_join, join_error
from moldau.broker.group.classic.join_replies import join_refused, sync_refused
from moldau.broker.group.classic.sessions import decide_heartbeat, decide_leave, leaving_members, left
from moldau.broker.group.classic.sync import decide_sync
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.group_removal import removal
from moldau.broker.group.migration.classic_members import (
    heartbeat_as_classic,
    join_as_classic,
    leave_as_classic,
    sync_as_classic,
)
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.groups.join_group import JoinGroupRequest
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest, LeaveGroupResponse
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest

_MEMBER_ID_REQUIRED_VERSION = 4
_SKIP_ASSIGNMENT_VERSION = 9


def join_group(state: ShardState, call: Call, request: JoinGroupRequest) -> GroupOutcome:
    name = call.client.client_id if request.group_instance_id is None else request.group_instance_id
    join = Join(
        request_id=call.request_id,
        request=request,
        client=call.client,
        new_member_id=f"{name}-{call.new_id}",
        needs_member_id=call.version >= _MEMBER_ID_REQUIRED_VERSION,
        knows_skip_assignment=call.version >= _SKIP_ASSIGNMENT_VERSION,
    )
    consumer = state.consumer(request.group_id)
    if consumer is not None and not consumer.is_empty:
        return _join_consumer_group(state, call, consumer, join)
    group = state.classic(request.group_id)
    draft = ClassicDraft(group or ClassicGroup(request.group_id), state.settings, call.now_ms)
    decide_join(draft, join, group_exists=group is not None)
    outcome = draft.outcome()
    if consumer is not None and outcome.facts:
        # A consumer group without members becomes a classic one, unless the join is rejected.
        return replace(outcome, facts=(*removal(consumer), *outcome.facts))
    return outcome


def _join_consumer_group(state: ShardState, call: Call, group: ConsumerGroup, join: Join) -> GroupOutcome:
    error = join_error(state.settings, join.request)
    try:
        if error is not ErrorCode.NONE:
            raise ApiError(error)
        draft = ConsumerDraft(group, state, call.now_ms)
        join_as_classic(draft, join)
        return draft.outcome()
    except ApiError as refusal:
        return call.answered(join_refused(refusal.code, join.request.member_id))


def sync_group(state: ShardState, call: Call, request: SyncGroupRequest) -> GroupOutcome:
    group = state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        consumer = ConsumerDraft(group, state, call.now_ms)
        try:
            consumer.answer(call.request_id, sync_as_classic(consumer, request))
        except ApiError as refusal:
            return call.answered(sync_refused(refusal.code))
        return consumer.outcome()
    if not isinstance(group, ClassicGroup) or not request.group_id:
        return call.answered(sync_refused(_error_without_group(request.group_id)))
    draft = ClassicDraft(group, state.settings, call.now_ms)
    decide_sync(draft, call.request_id, request)
    return draft.outcome()


def heartbeat(state: ShardState, call: Call, request: HeartbeatRequest) -> GroupOutcome:
    group = state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        consumer = ConsumerDraft(group, state, call.now_ms)
        try:
            error = heartbeat_as_classic(consumer, request)
        except ApiError as refusal:
            error = refusal.code
        consumer.answer(call.request_id, HeartbeatResponse(error_code=error))
        return consumer.outcome()
    if not isinstance(group, ClassicGroup) or not request.group_id:
        return call.answered(HeartbeatResponse(error_code=_error_without_group(request.group_id)))
    draft = ClassicDraft(group, state.settings, call.now_ms)
    decide_heartbeat(draft, call.request_id, request)
    return draft.outcome()


def leave_group(state: ShardState, call: Call, request: LeaveGroupRequest) -> GroupOutcome:
    if not request.group_id:
        return call.answered(LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
    leaving = leaving_members(request, call.version)
    group = state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        consumer = ConsumerDraft(group, state, call.now_ms)
        errors = leave_as_classic(consumer, leaving)
        consumer.answer(call.request_id, left(leaving, errors, call.version))
        return consumer.outcome()
    if not isinstance(group, ClassicGroup):
        errors = [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving)
        return call.answered(left(leaving, errors, call.version))
    draft = ClassicDraft(group, state.settings, call.now_ms)
    decide_leave(draft, call.request_id, leaving, call.version)
    return draft.outcome()


def _error_without_group(group_id: str) -> ErrorCode:
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID
