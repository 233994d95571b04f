"""ElectLeaders: triggers leader elections (KIP-183).

v1 unclean elections (KIP-460); top-level error code. v2 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class TopicPartitions:
    topic: str = string()
    partitions: Sequence[int] = array("int32")


@request(43, versions="0-2", flexible="2+")
@structure
class ElectLeadersRequest(Request):
    election_type: int = int8(versions="1+", default=0)
    """0 preferred replica, 1 any live replica if none is in sync."""
    topic_partitions: Sequence[TopicPartitions] | None = array(TopicPartitions, nullable="0+")
    """None elects for all partitions."""
    timeout_ms: int = int32(default=60000)


@structure
class PartitionResult:
    partition_id: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")


@structure
class ReplicaElectionResult:
    topic: str = string()
    partition_result: Sequence[PartitionResult] = array(PartitionResult)


@response(ElectLeadersRequest)
@structure
class ElectLeadersResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(versions="1+", default=0)
    replica_election_results: Sequence[ReplicaElectionResult] = array(ReplicaElectionResult)
