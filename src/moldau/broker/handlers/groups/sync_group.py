"""SyncGroup (14), v0-5.

v3 static members (KIP-345)   v4 flexible   v5 protocol type and name (KIP-559)

The answer waits for the assignment from the group leader.
"""

from typing import Any, Final

from moldau.broker.handlers.groups.group_access import ask_if_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupResponse
from moldau.security.access.model import Operation

PROTOCOL_SINCE: Final = 5


def handle(ctx: RequestContext, request: SyncGroupRequest) -> Any:
    has_protocol = request.protocol_type is not None and request.protocol_name is not None
    if ctx.version >= PROTOCOL_SINCE and not has_protocol:
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL, assignment=b"")
    return ask_if_allowed(ctx, Operation.READ, request.group_id, request)


API = ApiSpec.of(SyncGroupRequest, handle)
