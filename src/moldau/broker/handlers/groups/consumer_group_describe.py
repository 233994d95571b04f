"""ConsumerGroupDescribe (69), v0-1 (KIP-848).

v1 marks members of the classic protocol (KIP-1099)
"""

from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)


async def handle(ctx: RequestContext, request: ConsumerGroupDescribeRequest) -> ConsumerGroupDescribeResponse:
    replies = await ask_each(ctx, [(group_id, _one(request, group_id)) for group_id in request.group_ids])
    return ConsumerGroupDescribeResponse(groups=[group for reply in replies for group in reply.groups])


API = ApiSpec.of(ConsumerGroupDescribeRequest, handle)


def _one(request: ConsumerGroupDescribeRequest, group_id: str) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(
        group_ids=[group_id], include_authorized_operations=request.include_authorized_operations
    )
