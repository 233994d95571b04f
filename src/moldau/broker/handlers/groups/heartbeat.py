"""Heartbeat (12), v0-4.

v1 throttle time   v3 static members (KIP-345)   v4 flexible
"""

from typing import Any

from moldau.broker.handlers.groups.group_access import ask_if_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.security.access.model import Operation


def handle(ctx: RequestContext, request: HeartbeatRequest) -> Any:
    return ask_if_allowed(ctx, Operation.READ, request.group_id, request)


API = ApiSpec.of(HeartbeatRequest, handle)
