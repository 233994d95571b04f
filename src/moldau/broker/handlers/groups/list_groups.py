"""ListGroups (16), v0-5.

v3 flexible   v4 states (KIP-518)   v5 types (KIP-848)

Who may describe the cluster sees all groups, others those they may describe.
"""

from collections.abc import Awaitable

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    sees_all = ctx.may_with_cluster(Operation.DESCRIBE, is_logged=False)
    asked = [shard.ask(request, ctx.version, ctx.client) for shard in ctx.broker.groups.shards]
    replies = [await reply if isinstance(reply, Awaitable) else reply for reply in asked]
    groups = [group for reply in replies for group in reply.groups]
    if not sees_all:
        ids = [group.group_id for group in groups]
        seen = ctx.allowed(Operation.DESCRIBE, ResourceKind.GROUP, ids, is_logged=False)
        groups = [group for group in groups if group.group_id in seen]
    return ListGroupsResponse(groups=groups)


API = ApiSpec.of(ListGroupsRequest, handle)
