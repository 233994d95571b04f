"""DescribeGroups, ListGroups, DeleteGroups."""

from typing import Final

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState, Member
from moldau.broker.group.facts import GroupFact, RemovalNoted
from moldau.broker.group.group_removal import removal
from moldau.broker.group.offsets.removals import removed_with_group
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import SessionTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.machine import Answer, CancelTimer, Outcome
from moldau.protocol.messages.groups.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from moldau.protocol.messages.groups.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest, ListGroupsResponse

_GROUP_NOT_FOUND_VERSION: Final = 6
"""From this version on DescribeGroups may answer GROUP_ID_NOT_FOUND (KIP-1043); before, an unknown group is
Dead."""


def describe_groups(state: ShardState, call: Call, request: DescribeGroupsRequest) -> GroupOutcome:
    groups = []
    for group_id in request.groups:
        group = state.groups.get(group_id)
        if isinstance(group, ClassicGroup):
            groups.append(_described(group))
        else:
            why = "was not found" if group is None else "is not a classic group"
            groups.append(_unknown(group_id, f"Group {group_id} {why}.", call.version))
    return call.answered(DescribeGroupsResponse(groups=groups))


def list_groups(state: ShardState, call: Call, request: ListGroupsRequest) -> GroupOutcome:
    states = {text.strip().lower() for text in request.states_filter}
    types = {text.strip().lower() for text in request.types_filter}
    listed = [group.listed() for group in state.groups.values()]
    groups = [
        group
        for group in listed
        if (not states or group.group_state.lower() in states) and (not types or group.group_type in types)
    ]
    return call.answered(ListGroupsResponse(groups=groups))


def delete_groups(state: ShardState, call: Call, request: DeleteGroupsRequest) -> GroupOutcome:
    facts: list[GroupFact] = []
    timers = []
    results = []
    for group_id in dict.fromkeys(request.groups_names):
        group = state.groups.get(group_id)
        if group is None:
            error = ErrorCode.GROUP_ID_NOT_FOUND
        elif not group.is_empty:
            error = ErrorCode.NON_EMPTY_GROUP
        else:
            error = ErrorCode.NONE
            facts += removed_with_group(state, group_id, call.now_ms)
            facts += [RemovalNoted(group_id, call.now_ms, "deleted by request"), *removal(group)]
            if isinstance(group, ClassicGroup):
                timers += [CancelTimer(SessionTimer(group_id, pending)) for pending in group.pending_joins]
        results.append(DeletableGroupResult(group_id=group_id, error_code=error))
    answer = Answer(call.request_id, DeleteGroupsResponse(results=results))
    return Outcome(tuple(facts), (answer,), tuple(timers))


def _described(group: ClassicGroup) -> DescribedGroup:
    """The members' metadata is shown only while the group has a chosen protocol."""
    stable = group.state is ClassicState.STABLE
    protocol = group.protocol_name or "" if stable else ""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol,
        members=[_described_member(member, protocol) for member in group.members.values()],
    )


def _described_member(member: Member, protocol: str) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(protocol) or b"",
        member_assignment=member.assignment,
    )


def _unknown(group_id: str, message: str, version: int) -> DescribedGroup:
    can_say = version >= _GROUP_NOT_FOUND_VERSION
    return DescribedGroup(
        error_code=ErrorCode.GROUP_ID_NOT_FOUND if can_say else ErrorCode.NONE,
        error_message=message if can_say else None,
        group_id=group_id,
        group_state=ClassicState.DEAD,
        protocol_type="",
        protocol_data="",
        members=[],
    )
