"""DescribeLogDirs: the logs in each log directory (KIP-113).

v1 the response is sent before throttling. v2 flexible. v3 top-level error code. v4 total and usable bytes of
the volume (KIP-827).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@structure
class DescribableLogDirTopic:
    topic: str = string()
    partitions: Sequence[int] = array("int32")


@request(35, versions="1-4", flexible="2+")
@structure
class DescribeLogDirsRequest(Request):
    topics: Sequence[DescribableLogDirTopic] | None = array(DescribableLogDirTopic, nullable="0+")
    """None asks for all of them."""


@structure
class DescribeLogDirsPartition:
    partition_index: int = int32()
    partition_size: int = int64()
    offset_lag: int = int64()
    is_future_key: bool = bool8()


@structure
class DescribeLogDirsTopic:
    name: str = string()
    partitions: Sequence[DescribeLogDirsPartition] = array(DescribeLogDirsPartition)


@structure
class DescribeLogDirsResult:
    error_code: int = int16(default=0)
    log_dir: str = string()
    topics: Sequence[DescribeLogDirsTopic] = array(DescribeLogDirsTopic)
    total_bytes: int = int64(versions="4+", default=-1, ignorable=True)
    usable_bytes: int = int64(versions="4+", default=-1, ignorable=True)


@response(DescribeLogDirsRequest)
@structure
class DescribeLogDirsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(versions="3+", default=0, ignorable=True)
    results: Sequence[DescribeLogDirsResult] = array(DescribeLogDirsResult)
