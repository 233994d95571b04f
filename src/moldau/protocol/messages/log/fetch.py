"""Fetch: record batches from an offset on, for consumers and followers.

v4 isolation level. v5 log start offset. v6 KAFKA_STORAGE_ERROR possible. v7 fetch sessions (KIP-227). v8 the
response is sent before throttling. v9 the leader epoch is checked (KIP-320). v10 zstd (KIP-110). v11 fetching
from the nearest replica (KIP-392). v12 flexible; divergence is detected by the last fetched epoch (KIP-595).
v13 topic ids (KIP-516). v14 OFFSET_MOVED_TO_TIERED_STORAGE possible (KIP-405). v15 id and epoch of a follower
in a tagged field (KIP-903). v16 addresses of new leaders (KIP-951). v17 the follower's directory (KIP-853).
v18 the high watermark known to the follower (KIP-1166).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.core.ports import Buffer
from moldau.protocol.spec import (
    Request,
    Response,
    array,
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
class ReplicaState:
    replica_id: int = int32(default=-1)
    replica_epoch: int = int64(default=-1)


@structure
class FetchPartition:
    partition: int = int32()
    current_leader_epoch: int = int32(versions="9+", default=-1, ignorable=True)
    fetch_offset: int = int64()
    last_fetched_epoch: int = int32(versions="12+", default=-1)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)
    partition_max_bytes: int = int32()
    replica_directory_id: bytes = uuid(versions="17+", default=TOPIC_ID_ZERO, tag=0, ignorable=True)
    high_watermark: int = int64(versions="18+", default=0x7FFF_FFFF_FFFF_FFFF, tag=1, ignorable=True)
    """The largest value means that the follower does not report it."""


@structure
class FetchTopic:
    topic: str = string(versions="0-12", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="13+", default=TOPIC_ID_ZERO, ignorable=True)
    partitions: Sequence[FetchPartition] = array(FetchPartition)


@structure
class ForgottenTopic:
    topic: str = string(versions="0-12", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="13+", default=TOPIC_ID_ZERO, ignorable=True)
    partitions: Sequence[int] = array("int32")


@request(1, versions="4-18", flexible="12+")
@structure
class FetchRequest(Request):
    cluster_id: str | None = string(versions="12+", nullable="12+", default=None, tag=0, ignorable=True)
    replica_id: int = int32(versions="0-14", default=-1)
    """-1 is a consumer."""
    replica_state: ReplicaState = nested(ReplicaState, versions="15+", default=ReplicaState(), tag=1)
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(default=0x7FFF_FFFF)
    isolation_level: int = int8(default=0)
    """0 read uncommitted, 1 read committed."""
    session_id: int = int32(versions="7+", default=0, ignorable=True)
    session_epoch: int = int32(versions="7+", default=-1, ignorable=True)
    """-1 for no session, 0 for a new one."""
    topics: Sequence[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: Sequence[ForgottenTopic] = array(ForgottenTopic, versions="7+", default=())
    rack_id: str = string(versions="11+", default="", ignorable=True)


@structure
class EpochEndOffset:
    epoch: int = int32(default=-1)
    end_offset: int = int64(default=-1)


@structure
class LeaderIdAndEpoch:
    leader_id: int = int32(default=-1)
    leader_epoch: int = int32(default=-1)


@structure
class SnapshotId:
    end_offset: int = int64(default=-1)
    epoch: int = int32(default=-1)


@structure
class AbortedTransaction:
    producer_id: int = int64()
    first_offset: int = int64()


@structure
class PartitionData:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    high_watermark: int = int64()
    last_stable_offset: int = int64(default=-1)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = nested(EpochEndOffset, versions="12+", default=EpochEndOffset(), tag=0)
    current_leader: LeaderIdAndEpoch = nested(
        LeaderIdAndEpoch, versions="12+", default=LeaderIdAndEpoch(), tag=1
    )
    snapshot_id: SnapshotId = nested(SnapshotId, versions="12+", default=SnapshotId(), tag=2)
    aborted_transactions: Sequence[AbortedTransaction] | None = array(AbortedTransaction, nullable="0+")
    preferred_read_replica: int = int32(versions="11+", default=-1)
    records: Buffer | None = records()


@structure
class FetchableTopicResponse:
    topic: str = string(versions="0-12", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="13+", default=TOPIC_ID_ZERO, ignorable=True)
    partitions: Sequence[PartitionData] = array(PartitionData)


@structure
class NodeEndpoint:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


@response(FetchRequest)
@structure
class FetchResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(versions="7+", default=0, ignorable=True)
    session_id: int = int32(versions="7+", default=0)
    responses: Sequence[FetchableTopicResponse] = array(FetchableTopicResponse)
    node_endpoints: Sequence[NodeEndpoint] = array(NodeEndpoint, versions="16+", default=(), tag=0)
