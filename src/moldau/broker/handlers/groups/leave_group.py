"""LeaveGroup (13), v0-5.

v3 several members at once, also static ones (KIP-345)   v4 flexible   v5 reason (KIP-800)
"""

from typing import Any

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest


def handle(ctx: RequestContext, request: LeaveGroupRequest) -> Any:
    return ctx.broker.groups.ask(request.group_id, request, ctx.version, ctx.client)


API = ApiSpec.of(LeaveGroupRequest, handle)
