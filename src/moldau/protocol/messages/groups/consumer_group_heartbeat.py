"""ConsumerGroupHeartbeat: the one request a member of a new-protocol group needs: join, stay, change, leave (KIP-848).

v1 subscription by regular expression; the member makes its own id (KIP-1082).
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


@structure
class TopicPartitions:
    topic_id: TopicId = uuid()
    partitions: Sequence[int] = array("int32")


@request(68, versions="0-1", flexible="0+")
@structure
class ConsumerGroupHeartbeatRequest(Request):
    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()
    """0 joins, -1 leaves, -2 leaves as a static member that will be back."""
    instance_id: str | None = string(nullable="0+", default=None)
    rack_id: str | None = string(nullable="0+", default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    subscribed_topic_names: Sequence[str] | None = array("string", nullable="0+", default=None)
    subscribed_topic_regex: str | None = string(versions="1+", nullable="1+", default=None)
    server_assignor: str | None = string(nullable="0+", default=None)
    topic_partitions: Sequence[TopicPartitions] | None = array(TopicPartitions, nullable="0+", default=None)
    """What the member owns; None if unchanged since it last said."""


@structure
class Assignment:
    topic_partitions: Sequence[TopicPartitions] = array(TopicPartitions)


@response(ConsumerGroupHeartbeatRequest)
@structure
class ConsumerGroupHeartbeatResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    assignment: Assignment | None = nested(Assignment, nullable="0+", default=None)
    """None if unchanged."""
