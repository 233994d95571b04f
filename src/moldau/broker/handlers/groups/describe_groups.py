"""DescribeGroups (15), v0-6.

v3 authorised operations   v4 static members (KIP-345)   v5 flexible   v6 GROUP_ID_NOT_FOUND (KIP-1043)
"""

from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse


async def handle(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    replies = await ask_each(ctx, [(group_id, _one(request, group_id)) for group_id in request.groups])
    return DescribeGroupsResponse(groups=[group for reply in replies for group in reply.groups])


API = ApiSpec.of(DescribeGroupsRequest, handle)


def _one(request: DescribeGroupsRequest, group_id: str) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(
        groups=[group_id], include_authorized_operations=request.include_authorized_operations
    )
