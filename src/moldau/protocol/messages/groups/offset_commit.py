"""OffsetCommit: stores the offsets up to which a group has consumed.

v2 retention time. v3 throttle time. v4 the response is sent before throttling. v5 no retention time, only the
broker's (KIP-211). v6 leader epochs (KIP-320). v7 static members (KIP-345). v8 flexible. v9 members of
consumer groups; STALE_MEMBER_EPOCH and GROUP_ID_NOT_FOUND possible (KIP-848). v10 topic ids (KIP-848).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
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
class OffsetCommitRequestPartition:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(versions="6+", default=-1, ignorable=True)
    committed_metadata: str | None = string(nullable="0+")


@structure
class OffsetCommitRequestTopic:
    name: str = string(versions="0-9", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="10+", default=TOPIC_ID_ZERO, ignorable=True)
    partitions: Sequence[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition)


@request(8, versions="2-10", flexible="8+")
@structure
class OffsetCommitRequest(Request):
    group_id: str = string()
    generation_id_or_member_epoch: int = int32(default=-1)
    """-1 for a commit from outside the group."""
    member_id: str = string()
    group_instance_id: str | None = string(versions="7+", nullable="7+", default=None)
    retention_time_ms: int = int64(versions="0-4", default=-1, ignorable=True)
    topics: Sequence[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic)


@structure
class OffsetCommitResponsePartition:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@structure
class OffsetCommitResponseTopic:
    name: str = string(versions="0-9", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="10+", default=TOPIC_ID_ZERO, ignorable=True)
    partitions: Sequence[OffsetCommitResponsePartition] = array(OffsetCommitResponsePartition)


@response(OffsetCommitRequest)
@structure
class OffsetCommitResponse(Response):
    throttle_time_ms: int = int32(versions="3+", default=0, ignorable=True)
    topics: Sequence[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic)
