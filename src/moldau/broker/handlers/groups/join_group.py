"""JoinGroup (11), v0-9.

v1 rebalance timeout   v4 member id required (KIP-394)   v5 static members (KIP-345)   v6 flexible
v7 protocol type   v8 reason (KIP-800)   v9 skipped assignment (KIP-814)

The answer waits until all members have joined or the rebalance times out.
"""

from typing import Any

from moldau.broker.handlers.groups.group_access import ask_if_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.groups.join_group import JoinGroupRequest
from moldau.security.access.model import Operation


def handle(ctx: RequestContext, request: JoinGroupRequest) -> Any:
    return ask_if_allowed(ctx, Operation.READ, request.group_id, request)


API = ApiSpec.of(JoinGroupRequest, handle)
