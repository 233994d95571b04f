"""ConsumerGroupHeartbeat (68), v0-1 (KIP-848).

v1 subscription by a pattern, the member makes its own id (KIP-1082)
"""

from typing import Any

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def handle(ctx: RequestContext, request: ConsumerGroupHeartbeatRequest) -> Any:
    return ctx.broker.groups.ask(request.group_id, request, ctx.version, ctx.client)


API = ApiSpec.of(ConsumerGroupHeartbeatRequest, handle)
