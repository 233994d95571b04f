"""DeleteGroups (42), v0-2.

v2 flexible
"""

from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse


async def handle(ctx: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    names = dict.fromkeys(request.groups_names)
    replies = await ask_each(ctx, [(name, DeleteGroupsRequest(groups_names=[name])) for name in names])
    return DeleteGroupsResponse(results=[result for reply in replies for result in reply.results])


API = ApiSpec.of(DeleteGroupsRequest, handle)
