"""DescribeProducers: the active producers of a partition (KIP-664)."""

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
class TopicRequest:
    name: str = string()
    partition_indexes: Sequence[int] = array("int32")


@request(61, versions="0", flexible="0+")
@structure
class DescribeProducersRequest(Request):
    topics: Sequence[TopicRequest] = array(TopicRequest)


@structure
class ProducerState:
    producer_id: int = int64()
    producer_epoch: int = int32()
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32()
    current_txn_start_offset: int = int64(default=-1)


@structure
class PartitionResponse:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    active_producers: Sequence[ProducerState] = array(ProducerState)


@structure
class TopicResponse:
    name: str = string()
    partitions: Sequence[PartitionResponse] = array(PartitionResponse)


@response(DescribeProducersRequest)
@structure
class DescribeProducersResponse(Response):
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[TopicResponse] = array(TopicResponse)
