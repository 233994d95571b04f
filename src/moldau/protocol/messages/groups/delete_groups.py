"""DeleteGroups: deletes empty groups (KIP-229).

v1 the response is sent before throttling. v2 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, int32, request, response, string, structure


@request(42, versions="0-2", flexible="2+")
@structure
class DeleteGroupsRequest(Request):
    groups_names: Sequence[str] = array("string")


@structure
class DeletableGroupResult:
    group_id: str = string()
    error_code: int = int16(default=0)


@response(DeleteGroupsRequest)
@structure
class DeleteGroupsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    results: Sequence[DeletableGroupResult] = array(DeletableGroupResult)
