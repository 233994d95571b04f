"""DescribeGroups (15), v0-6.

v3 authorised operations   v4 static members (KIP-345)   v5 flexible   v6 GROUP_ID_NOT_FOUND (KIP-1043)
"""

from dataclasses import replace

from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    allowed = ctx.allowed(Operation.DESCRIBE, ResourceKind.GROUP, request.groups)
    replies = await ask_each(
        ctx, [(group_id, _one(request, group_id)) for group_id in request.groups if group_id in allowed]
    )
    groups = [group for reply in replies for group in reply.groups]
    if request.include_authorized_operations:
        groups = [_with_operations(ctx, group) for group in groups]
    return DescribeGroupsResponse(
        groups=[*(_forbidden(group_id) for group_id in request.groups if group_id not in allowed), *groups]
    )


API = ApiSpec.of(DescribeGroupsRequest, handle)


def _one(request: DescribeGroupsRequest, group_id: str) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(
        groups=[group_id], include_authorized_operations=request.include_authorized_operations
    )


def _with_operations(ctx: RequestContext, group: DescribedGroup) -> DescribedGroup:
    if group.error_code:
        return group
    return replace(group, authorized_operations=ctx.operations(ResourceKind.GROUP, group.group_id))


def _forbidden(group_id: str) -> DescribedGroup:
    return DescribedGroup(
        error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED,
        group_id=group_id,
        group_state="",
        protocol_type="",
        protocol_data="",
        members=[],
    )
