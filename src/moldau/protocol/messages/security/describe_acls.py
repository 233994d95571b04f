"""DescribeAcls: the ACLs that match a filter.

v1 pattern types (KIP-290); the response is sent before throttling. v2 flexible. v3 users as resources
(KIP-373).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@request(29, versions="1-3", flexible="2+")
@structure
class DescribeAclsRequest(Request):
    resource_type_filter: int = int8()
    resource_name_filter: str | None = string(nullable="0+")
    pattern_type_filter: int = int8(default=3)
    """1 any, 2 all patterns that match the name, 3 literal, 4 prefixed."""
    principal_filter: str | None = string(nullable="0+")
    host_filter: str | None = string(nullable="0+")
    operation: int = int8()
    permission_type: int = int8()


@structure
class AclDescription:
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()


@structure
class DescribeAclsResource:
    resource_type: int = int8()
    resource_name: str = string()
    pattern_type: int = int8(default=3)
    acls: Sequence[AclDescription] = array(AclDescription)


@response(DescribeAclsRequest)
@structure
class DescribeAclsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    resources: Sequence[DescribeAclsResource] = array(DescribeAclsResource)
