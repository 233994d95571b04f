"""CreatePartitions: adds partitions to existing topics.

v1 the response is sent before throttling. v2 flexible. v3 THROTTLING_QUOTA_EXCEEDED possible (KIP-599).
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
class CreatePartitionsAssignment:
    broker_ids: Sequence[int] = array("int32")


@structure
class CreatePartitionsTopic:
    name: str = string()
    count: int = int32()
    """The new total."""
    assignments: Sequence[CreatePartitionsAssignment] | None = array(
        CreatePartitionsAssignment, nullable="0+"
    )
    """Replicas of the new partitions only; None lets the broker choose."""


@request(37, versions="0-3", flexible="2+")
@structure
class CreatePartitionsRequest(Request):
    topics: Sequence[CreatePartitionsTopic] = array(CreatePartitionsTopic)
    timeout_ms: int = int32()
    validate_only: bool = bool8()


@structure
class CreatePartitionsTopicResult:
    name: str = string()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)


@response(CreatePartitionsRequest)
@structure
class CreatePartitionsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    results: Sequence[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult)
