"""OffsetForLeaderEpoch: the end offset of an epoch, with which a reader detects divergence of its log
(KIP-320).

v2 the leader epoch is checked. v3 id of the asking replica. v4 flexible.
"""

from collections.abc import Sequence

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
)


@structure
class OffsetForLeaderPartition:
    partition: int = int32()
    current_leader_epoch: int = int32(default=-1)
    leader_epoch: int = int32()


@structure
class OffsetForLeaderTopic:
    topic: str = string()
    partitions: Sequence[OffsetForLeaderPartition] = array(OffsetForLeaderPartition)


@request(23, versions="2-4", flexible="4+")
@structure
class OffsetForLeaderEpochRequest(Request):
    replica_id: int = int32(versions="3+", default=-2, ignorable=True)
    """-1 is a consumer; -2 a consumer that may read past the high watermark."""
    topics: Sequence[OffsetForLeaderTopic] = array(OffsetForLeaderTopic)


@structure
class EpochEndOffset:
    error_code: int = int16(default=0)
    partition: int = int32()
    leader_epoch: int = int32(default=-1)
    end_offset: int = int64(default=-1)


@structure
class OffsetForLeaderTopicResult:
    topic: str = string()
    partitions: Sequence[EpochEndOffset] = array(EpochEndOffset)


@response(OffsetForLeaderEpochRequest)
@structure
class OffsetForLeaderEpochResponse(Response):
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult)
