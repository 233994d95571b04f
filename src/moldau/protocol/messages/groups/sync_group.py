"""SyncGroup: the leader of a classic group sends the assignment; every member receives its part.

v1 throttle time. v2 the response is sent before throttling. v3 static members (KIP-345). v4 flexible. v5
protocol type and name are checked (KIP-559).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bytestring,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class SyncGroupRequestAssignment:
    member_id: str = string()
    assignment: bytes = bytestring()


@request(14, versions="0-5", flexible="4+")
@structure
class SyncGroupRequest(Request):
    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None)
    protocol_type: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    assignments: Sequence[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment)


@response(SyncGroupRequest)
@structure
class SyncGroupResponse(Response):
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    error_code: int = int16(default=0)
    protocol_type: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = bytestring()
