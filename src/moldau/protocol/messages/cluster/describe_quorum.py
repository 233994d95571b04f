"""DescribeQuorum: the state of the KRaft controllers (KIP-595).

v1 times of the last fetch (KIP-836). v2 directories, addresses, error messages (KIP-853).

Not served by Moldau, which has no quorum. Declared so that messages of Kafka's brokers can be
decoded.
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO
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
    uint16,
    uuid,
)


@structure
class PartitionData:
    partition_index: int = int32()


@structure
class TopicData:
    topic_name: str = string()
    partitions: Sequence[PartitionData] = array(PartitionData)


@request(55, versions="0-2", flexible="0+")
@structure
class DescribeQuorumRequest(Request):
    topics: Sequence[TopicData] = array(TopicData)


@structure
class ReplicaState:
    replica_id: int = int32()
    replica_directory_id: bytes = uuid(versions="2+", default=TOPIC_ID_ZERO)
    log_end_offset: int = int64()
    last_fetch_timestamp: int = int64(versions="1+", default=-1, ignorable=True)
    last_caught_up_timestamp: int = int64(versions="1+", default=-1, ignorable=True)


@structure
class PartitionState:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(versions="2+", nullable="2+", default="", ignorable=True)
    leader_id: int = int32()
    leader_epoch: int = int32()
    high_watermark: int = int64()
    current_voters: Sequence[ReplicaState] = array(ReplicaState)
    observers: Sequence[ReplicaState] = array(ReplicaState)


@structure
class TopicState:
    topic_name: str = string()
    partitions: Sequence[PartitionState] = array(PartitionState)


@structure
class Listener:
    name: str = string()
    host: str = string()
    port: int = uint16()


@structure
class Node:
    node_id: int = int32()
    listeners: Sequence[Listener] = array(Listener)


@response(DescribeQuorumRequest)
@structure
class DescribeQuorumResponse(Response):
    error_code: int = int16(default=0)
    error_message: str | None = string(versions="2+", nullable="2+", default="", ignorable=True)
    topics: Sequence[TopicState] = array(TopicState)
    nodes: Sequence[Node] = array(Node, versions="2+", default=())
