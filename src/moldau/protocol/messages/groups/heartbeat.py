"""Heartbeat: keeps the session of a member of a classic group alive.

v1 throttle time. v2 the response is sent before throttling. v3 static members (KIP-345). v4 flexible.
"""

from moldau.protocol.spec import Request, Response, int16, int32, request, response, string, structure


@request(12, versions="0-4", flexible="4+")
@structure
class HeartbeatRequest(Request):
    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None)


@response(HeartbeatRequest)
@structure
class HeartbeatResponse(Response):
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    error_code: int = int16(default=0)
