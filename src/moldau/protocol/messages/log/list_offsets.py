"""ListOffsets: the offset at a timestamp, or the earliest, latest and other special offsets.

v1 one offset, with its timestamp. v2 isolation level, throttle time. v3 the response is sent before
throttling. v4 leader epochs (KIP-320). v5 OFFSET_NOT_AVAILABLE possible. v6 flexible. v7 the offset of the
largest timestamp (KIP-734). v8 the local log start offset (KIP-405). v9 the last tiered offset (KIP-1005).
v10 timeout for remote lookups (KIP-1075). v11 the earliest offset not yet uploaded (KIP-1023).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@structure
class ListOffsetsPartition:
    partition_index: int = int32()
    current_leader_epoch: int = int32(versions="4+", default=-1, ignorable=True)
    timestamp: int = int64()
    """-1 latest, -2 earliest, -3 of the largest timestamp, -4 earliest local, -5 last tiered,
    -6 earliest not uploaded."""


@structure
class ListOffsetsTopic:
    name: str = string()
    partitions: Sequence[ListOffsetsPartition] = array(ListOffsetsPartition)


@request(2, versions="1-11", flexible="6+")
@structure
class ListOffsetsRequest(Request):
    replica_id: int = int32()
    isolation_level: int = int8(versions="2+", default=0)
    """0 read uncommitted, 1 read committed."""
    topics: Sequence[ListOffsetsTopic] = array(ListOffsetsTopic)
    timeout_ms: int = int32(versions="10+", default=0, ignorable=True)


@structure
class ListOffsetsPartitionResponse:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    timestamp: int = int64(default=-1)
    offset: int = int64(default=-1)
    leader_epoch: int = int32(versions="4+", default=-1)


@structure
class ListOffsetsTopicResponse:
    name: str = string()
    partitions: Sequence[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse)


@response(ListOffsetsRequest)
@structure
class ListOffsetsResponse(Response):
    throttle_time_ms: int = int32(versions="2+", default=0, ignorable=True)
    topics: Sequence[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse)
