"""DescribeTopicPartitions: topics page by page, with eligible leaders (KIP-966)."""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    nested,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class TopicRequest:
    name: str = string()


@structure
class Cursor:
    topic_name: str = string()
    partition_index: int = int32()


@request(75, versions="0", flexible="0+")
@structure
class DescribeTopicPartitionsRequest(Request):
    topics: Sequence[TopicRequest] = array(TopicRequest)
    response_partition_limit: int = int32(default=2000)
    cursor: Cursor | None = nested(Cursor, nullable="0+", default=None)


@structure
class DescribeTopicPartitionsResponsePartition:
    error_code: int = int16(default=0)
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(default=-1)
    replica_nodes: Sequence[int] = array("int32")
    isr_nodes: Sequence[int] = array("int32")
    eligible_leader_replicas: Sequence[int] | None = array("int32", nullable="0+", default=None)
    last_known_elr: Sequence[int] | None = array("int32", nullable="0+", default=None)
    offline_replicas: Sequence[int] = array("int32")


@structure
class DescribeTopicPartitionsResponseTopic:
    error_code: int = int16(default=0)
    name: str | None = string(nullable="0+")
    topic_id: TopicId = uuid()
    is_internal: bool = bool8(default=False)
    partitions: Sequence[DescribeTopicPartitionsResponsePartition] = array(
        DescribeTopicPartitionsResponsePartition
    )
    topic_authorized_operations: int = int32(default=-0x8000_0000)


@response(DescribeTopicPartitionsRequest)
@structure
class DescribeTopicPartitionsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[DescribeTopicPartitionsResponseTopic] = array(DescribeTopicPartitionsResponseTopic)
    next_cursor: Cursor | None = nested(Cursor, nullable="0+", default=None)
