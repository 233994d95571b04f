"""ShareFetch: acquires records for a member of a share group and acknowledges earlier ones (KIP-932).

v2 exact record limits (KIP-1206); renewal of locks (KIP-1222).

Not served by Moldau yet.
"""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.core.ports import Buffer
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int8,
    int16,
    int32,
    int64,
    nested,
    records,
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
class FetchPartition:
    partition_index: int = int32()
    acknowledgement_batches: Sequence[AcknowledgementBatch] = array(AcknowledgementBatch)


@structure
class FetchTopic:
    topic_id: TopicId = uuid()
    partitions: Sequence[FetchPartition] = array(FetchPartition)


@structure
class ForgottenTopic:
    topic_id: TopicId = uuid()
    partitions: Sequence[int] = array("int32")


@request(78, versions="1-2", flexible="0+")
@structure
class ShareFetchRequest(Request):
    group_id: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+")
    share_session_epoch: int = int32()
    """0 opens a session, -1 closes it."""
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(default=0x7FFF_FFFF)
    max_records: int = int32()
    batch_size: int = int32()
    share_acquire_mode: int = int8(versions="2+", default=0, ignorable=True)
    """0 whole batches, 1 exactly up to the limit."""
    is_renew_ack: bool = bool8(versions="2+", default=False)
    topics: Sequence[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: Sequence[ForgottenTopic] = array(ForgottenTopic)


@structure
class LeaderIdAndEpoch:
    leader_id: int = int32()
    leader_epoch: int = int32()


@structure
class AcquiredRecords:
    first_offset: int = int64()
    last_offset: int = int64()
    delivery_count: int = int16()


@structure
class PartitionData:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    acknowledge_error_code: int = int16()
    acknowledge_error_message: str | None = string(nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch)
    records: Buffer = records(nullable="none")
    acquired_records: Sequence[AcquiredRecords] = array(AcquiredRecords)


@structure
class ShareFetchableTopicResponse:
    topic_id: TopicId = uuid()
    partitions: Sequence[PartitionData] = array(PartitionData)


@structure
class NodeEndpoint:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


@response(ShareFetchRequest)
@structure
class ShareFetchResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    acquisition_lock_timeout_ms: int = int32()
    responses: Sequence[ShareFetchableTopicResponse] = array(ShareFetchableTopicResponse)
    node_endpoints: Sequence[NodeEndpoint] = array(NodeEndpoint)
