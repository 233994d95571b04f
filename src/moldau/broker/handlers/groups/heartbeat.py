"""Heartbeat (12), v0-4.

v1 throttle time   v3 static members (KIP-345)   v4 flexible
"""

from typing import Any

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest


def handle(ctx: RequestContext, request: HeartbeatRequest) -> Any:
    return ctx.broker.groups.ask(request.group_id, request, ctx.version, ctx.client)


API = ApiSpec.of(HeartbeatRequest, handle)
