"""The error answers to group requests when there is no coordinator to ask, or it could not write.

The codes are Kafka's: clients look for the coordinator again, or retry.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.broker.group.classic.join_replies import join_refused, sync_refused
from moldau.broker.group.consumer.describe import describe_refused
from moldau.broker.group.consumer.heartbeat_replies import heartbeat_refused
from moldau.broker.group.offsets.replies import commit_refused, fetch_refused, txn_commit_refused
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.groups.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from moldau.protocol.messages.groups.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from moldau.protocol.messages.groups.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.groups.join_group import JoinGroupRequest
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest, LeaveGroupResponse
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.protocol.messages.groups.offset_commit import OffsetCommitRequest
from moldau.protocol.messages.groups.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from moldau.protocol.messages.groups.offset_fetch import OffsetFetchRequest
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest
from moldau.protocol.messages.transactions.txn_offset_commit import TxnOffsetCommitRequest
from moldau.protocol.spec import Request, Response


def refused(request: Request, version: int, error: ErrorCode) -> Response:
    return _REFUSALS[type(request)](request, version, error)


def _heartbeat(request: HeartbeatRequest, version: int, error: ErrorCode) -> HeartbeatResponse:
    # While the group is loading no session can expire, so a heartbeat succeeds.
    loading = error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if loading else error)


def _describe(request: DescribeGroupsRequest, version: int, error: ErrorCode) -> DescribeGroupsResponse:
    groups = [
        DescribedGroup(
            error_code=error,
            group_id=group_id,
            group_state="",
            protocol_type="",
            protocol_data="",
            members=[],
        )
        for group_id in request.groups
    ]
    return DescribeGroupsResponse(groups=groups)


def _delete(request: DeleteGroupsRequest, version: int, error: ErrorCode) -> DeleteGroupsResponse:
    results = [DeletableGroupResult(group_id=name, error_code=error) for name in request.groups_names]
    return DeleteGroupsResponse(results=results)


def _describe_consumer_groups(
    request: ConsumerGroupDescribeRequest, version: int, error: ErrorCode
) -> ConsumerGroupDescribeResponse:
    groups = [describe_refused(group_id, error) for group_id in request.group_ids]
    return ConsumerGroupDescribeResponse(groups=groups)


_REFUSALS: Final[Mapping[type[Request], Callable[[Any, int, ErrorCode], Response]]] = {
    JoinGroupRequest: lambda request, _, error: join_refused(error, request.member_id),
    SyncGroupRequest: lambda _request, _, error: sync_refused(error),
    HeartbeatRequest: _heartbeat,
    LeaveGroupRequest: lambda _request, _, error: LeaveGroupResponse(error_code=error),
    ConsumerGroupHeartbeatRequest: lambda _request, _, error: heartbeat_refused(ApiError(error)),
    ConsumerGroupDescribeRequest: _describe_consumer_groups,
    OffsetCommitRequest: lambda request, _, error: commit_refused(request, error),
    TxnOffsetCommitRequest: lambda request, _, error: txn_commit_refused(request, error),
    OffsetFetchRequest: fetch_refused,
    OffsetDeleteRequest: lambda _request, _, error: OffsetDeleteResponse(error_code=error, topics=[]),
    DescribeGroupsRequest: _describe,
    ListGroupsRequest: lambda _request, _, error: ListGroupsResponse(error_code=error, groups=[]),
    DeleteGroupsRequest: _delete,
}
