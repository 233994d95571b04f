"""CreateAcls: adds ACLs.

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


@structure
class AclCreation:
    resource_type: int = int8()
    resource_name: str = string()
    resource_pattern_type: int = int8(default=3)
    """3 literal, 4 prefixed."""
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()


@request(30, versions="1-3", flexible="2+")
@structure
class CreateAclsRequest(Request):
    creations: Sequence[AclCreation] = array(AclCreation)


@structure
class AclCreationResult:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")


@response(CreateAclsRequest)
@structure
class CreateAclsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    results: Sequence[AclCreationResult] = array(AclCreationResult)
