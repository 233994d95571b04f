"""Produce: record batches to append.

v3 transactional id, record format 2. v4 KAFKA_STORAGE_ERROR possible. v5 log start offset in the response. v7
zstd (KIP-110). v8 rejected records, with reasons (KIP-467). v9 flexible. v10 the new leader and its address
if the leader has changed (KIP-951). v11 TRANSACTION_ABORTABLE possible (KIP-890). v12 also adds the
partitions to the transaction (KIP-890). v13 topic ids (KIP-516).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.core.ports import Buffer
from moldau.protocol.spec import (
    Request,
    Response,
    array,
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
class PartitionProduceData:
    index: int = int32()
    records: Buffer | None = records()


@structure
class TopicProduceData:
    name: str = string(versions="0-12", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="13+", default=TOPIC_ID_ZERO, ignorable=True)
    partition_data: Sequence[PartitionProduceData] = array(PartitionProduceData)


@request(0, versions="3-13", flexible="9+")
@structure
class ProduceRequest(Request):
    transactional_id: str | None = string(nullable="0+", default=None)
    acks: int = int16()
    """0 none, 1 the leader, -1 all in-sync replicas."""
    timeout_ms: int = int32()
    topic_data: Sequence[TopicProduceData] = array(TopicProduceData)


@structure
class BatchIndexAndErrorMessage:
    batch_index: int = int32()
    batch_index_error_message: str | None = string(nullable="0+", default=None)


@structure
class LeaderIdAndEpoch:
    leader_id: int = int32(default=-1)
    leader_epoch: int = int32(default=-1)


@structure
class PartitionProduceResponse:
    index: int = int32()
    error_code: int = int16(default=0)
    base_offset: int = int64()
    log_append_time_ms: int = int64(default=-1)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)
    record_errors: Sequence[BatchIndexAndErrorMessage] = array(
        BatchIndexAndErrorMessage, versions="8+", default=(), ignorable=True
    )
    error_message: str | None = string(versions="8+", nullable="8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = nested(
        LeaderIdAndEpoch, versions="10+", default=LeaderIdAndEpoch(), tag=0
    )


@structure
class TopicProduceResponse:
    name: str = string(versions="0-12", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="13+", default=TOPIC_ID_ZERO, ignorable=True)
    partition_responses: Sequence[PartitionProduceResponse] = array(PartitionProduceResponse)


@structure
class NodeEndpoint:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


@response(ProduceRequest)
@structure
class ProduceResponse(Response):
    responses: Sequence[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = int32(default=0)
    node_endpoints: Sequence[NodeEndpoint] = array(NodeEndpoint, versions="10+", default=(), tag=0)
