"""AlterPartitionReassignments: moves partitions to other replicas (KIP-455).

v1 can forbid a change of the replication factor (KIP-860).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class ReassignablePartition:
    partition_index: int = int32()
    replicas: Sequence[int] | None = array("int32", nullable="0+", default=None)
    """None cancels the reassignment under way."""


@structure
class ReassignableTopic:
    name: str = string()
    partitions: Sequence[ReassignablePartition] = array(ReassignablePartition)


@request(45, versions="0-1", flexible="0+")
@structure
class AlterPartitionReassignmentsRequest(Request):
    timeout_ms: int = int32(default=60000)
    allow_replication_factor_change: bool = bool8(versions="1+", default=True)
    topics: Sequence[ReassignableTopic] = array(ReassignableTopic)


@structure
class ReassignablePartitionResponse:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")


@structure
class ReassignableTopicResponse:
    name: str = string()
    partitions: Sequence[ReassignablePartitionResponse] = array(ReassignablePartitionResponse)


@response(AlterPartitionReassignmentsRequest)
@structure
class AlterPartitionReassignmentsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    allow_replication_factor_change: bool = bool8(versions="1+", default=True, ignorable=True)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    responses: Sequence[ReassignableTopicResponse] = array(ReassignableTopicResponse)
