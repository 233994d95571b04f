"""IncrementalAlterConfigs: sets, deletes, appends to or subtracts from single settings (KIP-339).

v1 flexible.
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
    config_operation: int = int8()
    """0 set, 1 delete, 2 append, 3 subtract."""
    value: str | None = string(nullable="0+")


@structure
class AlterConfigsResource:
    resource_type: int = int8()
    resource_name: str = string()
    configs: Sequence[AlterableConfig] = array(AlterableConfig)


@request(44, versions="0-1", flexible="1+")
@structure
class IncrementalAlterConfigsRequest(Request):
    resources: Sequence[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = bool8()


@structure
class AlterConfigsResourceResponse:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()
    resource_name: str = string()


@response(IncrementalAlterConfigsRequest)
@structure
class IncrementalAlterConfigsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    responses: Sequence[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
