"""DescribeGroups: state and members of classic groups.

v1 throttle time. v2 the response is sent before throttling. v3 authorized operations (KIP-430). v4
static members (KIP-345). v5 flexible. v6 GROUP_ID_NOT_FOUND possible (KIP-1043).
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


@request(15, versions="0-6", flexible="5+")
@structure
class DescribeGroupsRequest(Request):
    groups: Sequence[str] = array("string")
    include_authorized_operations: bool = bool8(versions="3+", default=False)


@structure
class DescribedGroupMember:
    member_id: str = string()
    group_instance_id: str | None = string(versions="4+", nullable="4+", default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = bytestring()
    member_assignment: bytes = bytestring()


@structure
class DescribedGroup:
    error_code: int = int16(default=0)
    error_message: str | None = string(versions="6+", nullable="6+", default=None)
    group_id: str = string()
    group_state: str = string()
    protocol_type: str = string()
    protocol_data: str = string()
    members: Sequence[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = int32(versions="3+", default=-0x8000_0000)


@response(DescribeGroupsRequest)
@structure
class DescribeGroupsResponse(Response):
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    groups: Sequence[DescribedGroup] = array(DescribedGroup)
