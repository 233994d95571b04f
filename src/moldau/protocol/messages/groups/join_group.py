"""JoinGroup: joins a classic group, or its next generation.

v1 rebalance timeout. v2 throttle time. v3 the response is sent before throttling. v4 a new member gets an id
first and joins again with it (KIP-394). v5 static members (KIP-345). v6 flexible. v7 the response names the
protocol type (KIP-559). v8 reason (KIP-800). v9 the leader may be told to skip the assignment (KIP-814).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    bytestring,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class JoinGroupRequestProtocol:
    name: str = string()
    metadata: bytes = bytestring()


@request(11, versions="0-9", flexible="6+")
@structure
class JoinGroupRequest(Request):
    group_id: str = string()
    session_timeout_ms: int = int32()
    rebalance_timeout_ms: int = int32(versions="1+", default=-1, ignorable=True)
    """v0 uses the session timeout instead."""
    member_id: str = string()
    group_instance_id: str | None = string(versions="5+", nullable="5+", default=None)
    protocol_type: str = string()
    protocols: Sequence[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol)
    reason: str | None = string(versions="8+", nullable="8+", default=None, ignorable=True)


@structure
class JoinGroupResponseMember:
    member_id: str = string()
    group_instance_id: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    metadata: bytes = bytestring()


@response(JoinGroupRequest)
@structure
class JoinGroupResponse(Response):
    throttle_time_ms: int = int32(versions="2+", default=0, ignorable=True)
    error_code: int = int16(default=0)
    generation_id: int = int32(default=-1)
    protocol_type: str | None = string(versions="7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = string(nullable="7+")
    leader: str = string()
    skip_assignment: bool = bool8(versions="9+", default=False)
    member_id: str = string()
    members: Sequence[JoinGroupResponseMember] = array(JoinGroupResponseMember)
