"""ListGroups: the groups that a broker coordinates.

v1 throttle time. v2 the response is sent before throttling. v3 flexible. v4 filter by state (KIP-518). v5
filter by type (KIP-848).
"""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, int32, request, response, string, structure


@request(16, versions="0-5", flexible="3+")
@structure
class ListGroupsRequest(Request):
    states_filter: Sequence[str] = array("string", versions="4+", default=())
    types_filter: Sequence[str] = array("string", versions="5+", default=())


@structure
class ListedGroup:
    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string(versions="4+", default="", ignorable=True)
    group_type: str = string(versions="5+", default="", ignorable=True)


@response(ListGroupsRequest)
@structure
class ListGroupsResponse(Response):
    throttle_time_ms: int = int32(versions="1+", default=0, ignorable=True)
    error_code: int = int16(default=0)
    groups: Sequence[ListedGroup] = array(ListedGroup)
