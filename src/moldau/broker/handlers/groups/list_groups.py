"""ListGroups (16), v0-5.

v3 flexible   v4 states (KIP-518)   v5 types (KIP-848)
"""

from collections.abc import Awaitable

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest, ListGroupsResponse


async def handle(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    asked = [shard.ask(request, ctx.version, ctx.client) for shard in ctx.broker.groups.shards]
    replies = [await reply if isinstance(reply, Awaitable) else reply for reply in asked]
    return ListGroupsResponse(groups=[group for reply in replies for group in reply.groups])


API = ApiSpec.of(ListGroupsRequest, handle)
