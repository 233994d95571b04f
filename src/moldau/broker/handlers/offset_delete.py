"""OffsetDelete (47), v0: forgets committed offsets of partitions nobody in the group reads (KIP-496)."""

from typing import Any

from moldau.broker.api_table import ApiSpec
from moldau.broker.session import RequestContext
from moldau.protocol.messages.offset_delete import OffsetDeleteRequest


def handle(ctx: RequestContext, request: OffsetDeleteRequest) -> Any:
    return ctx.broker.groups.ask(request.group_id, request, ctx.version, ctx.client)


API = ApiSpec.of(OffsetDeleteRequest, handle)
