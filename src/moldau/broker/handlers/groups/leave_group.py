"""LeaveGroup (13), v0-5.

v3 several members at once, also static ones (KIP-345)   v4 flexible   v5 reason (KIP-800)
"""

from typing import Any

from moldau.broker.handlers.groups.group_access import ask_if_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest
from moldau.security.access.model import Operation


def handle(ctx: RequestContext, request: LeaveGroupRequest) -> Any:
    return ask_if_allowed(ctx, Operation.READ, request.group_id, request)


API = ApiSpec.of(LeaveGroupRequest, handle)
