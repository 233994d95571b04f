"""DescribeCluster: cluster id, controller and brokers (KIP-700).

v1 brokers or controllers (KIP-919). v2 fenced brokers (KIP-1073).
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


@request(60, versions="0-2", flexible="0+")
@structure
class DescribeClusterRequest(Request):
    include_cluster_authorized_operations: bool = bool8()
    endpoint_type: int = int8(versions="1+", default=1)
    """1 brokers, 2 controllers."""
    include_fenced_brokers: bool = bool8(versions="2+", default=False)


@structure
class DescribeClusterBroker:
    broker_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)
    is_fenced: bool = bool8(versions="2+", default=False)


@response(DescribeClusterRequest)
@structure
class DescribeClusterResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    endpoint_type: int = int8(versions="1+", default=1)
    cluster_id: str = string()
    controller_id: int = int32(default=-1)
    brokers: Sequence[DescribeClusterBroker] = array(DescribeClusterBroker)
    cluster_authorized_operations: int = int32(default=-0x8000_0000)
