"""SyncGroup (14), v0-5.

v3 static members (KIP-345)   v4 flexible   v5 protocol type and name (KIP-559)

The answer waits for the assignment from the group leader.
"""

from typing import Any

from moldau.broker.handlers.groups.group_access import ask_if_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest
from moldau.security.access.model import Operation


def handle(ctx: RequestContext, request: SyncGroupRequest) -> Any:
    return ask_if_allowed(ctx, Operation.READ, request.group_id, request)


API = ApiSpec.of(SyncGroupRequest, handle)
