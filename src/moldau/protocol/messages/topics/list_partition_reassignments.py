"""ListPartitionReassignments: the reassignments under way (KIP-455)."""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, int32, request, response, string, structure


@structure
class ListPartitionReassignmentsTopics:
    name: str = string()
    partition_indexes: Sequence[int] = array("int32")


@request(46, versions="0", flexible="0+")
@structure
class ListPartitionReassignmentsRequest(Request):
    timeout_ms: int = int32(default=60000)
    topics: Sequence[ListPartitionReassignmentsTopics] | None = array(
        ListPartitionReassignmentsTopics, nullable="0+", default=None
    )
    """None asks for all of them."""


@structure
class OngoingPartitionReassignment:
    partition_index: int = int32()
    replicas: Sequence[int] = array("int32")
    adding_replicas: Sequence[int] = array("int32")
    removing_replicas: Sequence[int] = array("int32")


@structure
class OngoingTopicReassignment:
    name: str = string()
    partitions: Sequence[OngoingPartitionReassignment] = array(OngoingPartitionReassignment)


@response(ListPartitionReassignmentsRequest)
@structure
class ListPartitionReassignmentsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    topics: Sequence[OngoingTopicReassignment] = array(OngoingTopicReassignment)
