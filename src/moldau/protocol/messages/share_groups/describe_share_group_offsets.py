"""DescribeShareGroupOffsets: the start offsets of share groups (KIP-932). Not served by Moldau yet.

v1 lag (KIP-1226).
"""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class DescribeShareGroupOffsetsRequestTopic:
    topic_name: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class DescribeShareGroupOffsetsRequestGroup:
    group_id: str = string()
    topics: Sequence[DescribeShareGroupOffsetsRequestTopic] | None = array(
        DescribeShareGroupOffsetsRequestTopic, nullable="0+"
    )


@request(90, versions="0-1", flexible="0+")
@structure
class DescribeShareGroupOffsetsRequest(Request):
    groups: Sequence[DescribeShareGroupOffsetsRequestGroup] = array(DescribeShareGroupOffsetsRequestGroup)


@structure
class DescribeShareGroupOffsetsResponsePartition:
    partition_index: int = int32()
    start_offset: int = int64()
    leader_epoch: int = int32()
    lag: int = int64(versions="1+", default=-1, ignorable=True)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)


@structure
class DescribeShareGroupOffsetsResponseTopic:
    topic_name: str = string()
    topic_id: TopicId = uuid()
    partitions: Sequence[DescribeShareGroupOffsetsResponsePartition] = array(
        DescribeShareGroupOffsetsResponsePartition
    )


@structure
class DescribeShareGroupOffsetsResponseGroup:
    group_id: str = string()
    topics: Sequence[DescribeShareGroupOffsetsResponseTopic] = array(DescribeShareGroupOffsetsResponseTopic)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)


@response(DescribeShareGroupOffsetsRequest)
@structure
class DescribeShareGroupOffsetsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    groups: Sequence[DescribeShareGroupOffsetsResponseGroup] = array(DescribeShareGroupOffsetsResponseGroup)
