"""FindCoordinator (10), v0-6.

v1 kinds of key   v3 flexible   v4 many keys at once (KIP-699)   v5 abortable errors   v6 share groups

librdkafka takes the presence of this API for a sign that lz4 may be used, so it is served before there is a
coordinator to be found.
"""

from moldau.broker.api_table import ApiSpec
from moldau.broker.session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

BATCHED_SINCE = 4
NO_NODE = -1


def handle(ctx: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    keys = request.coordinator_keys if ctx.version >= BATCHED_SINCE else [request.key]
    found = [_find(key) for key in keys]
    first = found[0] if found else _find("")
    return FindCoordinatorResponse(
        throttle_time_ms=0,
        error_code=first.error_code,
        error_message=first.error_message,
        node_id=first.node_id,
        host=first.host,
        port=first.port,
        coordinators=found,
    )


API = ApiSpec.of(FindCoordinatorRequest, handle)


def _find(key: str) -> Coordinator:
    return Coordinator(
        key=key,
        node_id=NO_NODE,
        host="",
        port=NO_NODE,
        error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE,
        error_message="this broker does not coordinate groups or transactions yet",
    )
