"""DescribeConfigs: settings of topics, brokers and other resources, with the source of each value.

v1 sources and synonyms. v2 the response is sent before throttling. v3 types and documentation (KIP-569). v4
flexible.
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
class DescribeConfigsResource:
    resource_type: int = int8()
    resource_name: str = string()
    configuration_keys: Sequence[str] | None = array("string", nullable="0+")
    """None asks for all of them."""


@request(32, versions="1-4", flexible="4+")
@structure
class DescribeConfigsRequest(Request):
    resources: Sequence[DescribeConfigsResource] = array(DescribeConfigsResource)
    include_synonyms: bool = bool8(default=False)
    include_documentation: bool = bool8(versions="3+", default=False)


@structure
class DescribeConfigsSynonym:
    name: str = string()
    value: str | None = string(nullable="0+")
    source: int = int8()


@structure
class DescribeConfigsResourceResult:
    name: str = string()
    value: str | None = string(nullable="0+")
    read_only: bool = bool8()
    config_source: int = int8(default=-1)
    is_sensitive: bool = bool8()
    synonyms: Sequence[DescribeConfigsSynonym] = array(DescribeConfigsSynonym)
    config_type: int = int8(versions="3+", default=0, ignorable=True)
    documentation: str | None = string(versions="3+", nullable="3+", default="", ignorable=True)


@structure
class DescribeConfigsResult:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()
    resource_name: str = string()
    configs: Sequence[DescribeConfigsResourceResult] = array(DescribeConfigsResourceResult)


@response(DescribeConfigsRequest)
@structure
class DescribeConfigsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    results: Sequence[DescribeConfigsResult] = array(DescribeConfigsResult)
