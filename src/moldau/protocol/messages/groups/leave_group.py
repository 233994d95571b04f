"""LeaveGroup: leaves a classic group.

v1 throttle time. v2 the response is sent before throttling. v3 several members at once, also by instance id
(KIP-345). v4 flexible. v5 reason (KIP-800).
"""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, int32, request, response, string, structure


@structure
class MemberIdentity:
    member_id: str = string()
    group_instance_id: str | None = string(nullable="0+", default=None)
    reason: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)


@request(13, versions="0-5", flexible="4+")
@structure
class LeaveGroupRequest(Request):
    group_id: str = string()
    member_id: str = string(versions="0-2", default="")
    members: Sequence[MemberIdentity] = array(MemberIdentity, versions="3+", default=())


@structure
class MemberResponse:
    member_id: str = string()
    group_instance_id: str | None = string(nullable="0+")
    error_code: int = int16(default=0)


@response(LeaveGroupRequest)
@structure
class LeaveGroupResponse(Response):
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    error_code: int = int16(default=0)
    members: Sequence[MemberResponse] = array(MemberResponse, versions="3+", default=())
