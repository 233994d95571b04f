"""OffsetDelete (47), v0: deletes committed offsets of topics the group does not consume (KIP-496)."""

from typing import Any

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.offset_delete import OffsetDeleteRequest


def handle(ctx: RequestContext, request: OffsetDeleteRequest) -> Any:
    return ctx.broker.groups.ask(request.group_id, request, ctx.version, ctx.client)


API = ApiSpec.of(OffsetDeleteRequest, handle)
