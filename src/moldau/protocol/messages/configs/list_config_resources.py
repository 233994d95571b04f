"""ListConfigResources: the names of resources with settings.

v0 client metrics subscriptions only (KIP-714, then called ListClientMetricsResources). v1 any type
(KIP-1142).
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


@request(74, versions="0-1", flexible="0+")
@structure
class ListConfigResourcesRequest(Request):
    resource_types: Sequence[int] = array("int8", versions="1+", default=())
    """Empty asks for all types."""


@structure
class ConfigResource:
    resource_name: str = string()
    resource_type: int = int8(versions="1+", default=16, ignorable=True)


@response(ListConfigResourcesRequest)
@structure
class ListConfigResourcesResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    config_resources: Sequence[ConfigResource] = array(ConfigResource)
