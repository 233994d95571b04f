"""AlterConfigs: replaces all settings of a resource at once. Superseded by IncrementalAlterConfigs.

v1 the response is sent before throttling. v2 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class AlterableConfig:
    name: str = string()
    value: str | None = string(nullable="0+")


@structure
class AlterConfigsResource:
    resource_type: int = int8()
    resource_name: str = string()
    configs: Sequence[AlterableConfig] = array(AlterableConfig)


@request(33, versions="0-2", flexible="2+")
@structure
class AlterConfigsRequest(Request):
    resources: Sequence[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = bool8()


@structure
class AlterConfigsResourceResponse:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()
    resource_name: str = string()


@response(AlterConfigsRequest)
@structure
class AlterConfigsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    responses: Sequence[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
