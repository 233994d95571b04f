"""DeleteGroups (42), v0-2.

v2 flexible
"""

from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    names = dict.fromkeys(request.groups_names)
    allowed = ctx.allowed(Operation.DELETE, ResourceKind.GROUP, names)
    replies = await ask_each(
        ctx, [(name, DeleteGroupsRequest(groups_names=[name])) for name in names if name in allowed]
    )
    forbidden = [
        DeletableGroupResult(group_id=name, error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
        for name in names
        if name not in allowed
    ]
    return DeleteGroupsResponse(
        results=[*(result for reply in replies for result in reply.results), *forbidden]
    )


API = ApiSpec.of(DeleteGroupsRequest, handle)
