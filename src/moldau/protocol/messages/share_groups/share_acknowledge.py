"""ShareAcknowledge: acknowledges records without fetching more (KIP-932). Not served by Moldau yet.

v2 renewal of locks (KIP-1222).
"""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    int64,
    nested,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class AcknowledgementBatch:
    first_offset: int = int64()
    last_offset: int = int64()
    acknowledge_types: Sequence[int] = array("int8")
    """0 gap, 1 accept, 2 release, 3 reject, 4 renew."""


@structure
class AcknowledgePartition:
    partition_index: int = int32()
    acknowledgement_batches: Sequence[AcknowledgementBatch] = array(AcknowledgementBatch)


@structure
class AcknowledgeTopic:
    topic_id: TopicId = uuid()
    partitions: Sequence[AcknowledgePartition] = array(AcknowledgePartition)


@request(79, versions="1-2", flexible="0+")
@structure
class ShareAcknowledgeRequest(Request):
    group_id: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+")
    share_session_epoch: int = int32()
    is_renew_ack: bool = bool8(versions="2+", default=False)
    topics: Sequence[AcknowledgeTopic] = array(AcknowledgeTopic)


@structure
class LeaderIdAndEpoch:
    leader_id: int = int32()
    leader_epoch: int = int32()


@structure
class PartitionData:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch)


@structure
class ShareAcknowledgeTopicResponse:
    topic_id: TopicId = uuid()
    partitions: Sequence[PartitionData] = array(PartitionData)


@structure
class NodeEndpoint:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


@response(ShareAcknowledgeRequest)
@structure
class ShareAcknowledgeResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    acquisition_lock_timeout_ms: int = int32(versions="2+", default=0, ignorable=True)
    responses: Sequence[ShareAcknowledgeTopicResponse] = array(ShareAcknowledgeTopicResponse)
    node_endpoints: Sequence[NodeEndpoint] = array(NodeEndpoint)
