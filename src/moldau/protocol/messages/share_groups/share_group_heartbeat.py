"""ShareGroupHeartbeat: a member of a share group joins, stays, changes or leaves (KIP-932).

Not served by Moldau yet.
"""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int16,
    int32,
    nested,
    request,
    response,
    string,
    structure,
    uuid,
)


@request(76, versions="1", flexible="0+")
@structure
class ShareGroupHeartbeatRequest(Request):
    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()
    """0 joins, -1 leaves."""
    rack_id: str | None = string(nullable="0+", default=None)
    subscribed_topic_names: Sequence[str] | None = array("string", nullable="0+", default=None)


@structure
class TopicPartitions:
    topic_id: TopicId = uuid()
    partitions: Sequence[int] = array("int32")


@structure
class Assignment:
    topic_partitions: Sequence[TopicPartitions] = array(TopicPartitions)


@response(ShareGroupHeartbeatRequest)
@structure
class ShareGroupHeartbeatResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    assignment: Assignment | None = nested(Assignment, nullable="0+", default=None)
