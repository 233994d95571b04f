"""ShareGroupDescribe: state and members of share groups (KIP-932). Not served by Moldau yet."""

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


@request(77, versions="1", flexible="0+")
@structure
class ShareGroupDescribeRequest(Request):
    group_ids: Sequence[str] = array("string")
    include_authorized_operations: bool = bool8()


@structure
class TopicPartitions:
    topic_id: TopicId = uuid()
    topic_name: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class Assignment:
    topic_partitions: Sequence[TopicPartitions] = array(TopicPartitions)


@structure
class Member:
    member_id: str = string()
    rack_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: Sequence[str] = array("string")
    assignment: Assignment = nested(Assignment)


@structure
class DescribedGroup:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    assignor_name: str = string()
    members: Sequence[Member] = array(Member)
    authorized_operations: int = int32(default=-0x8000_0000)


@response(ShareGroupDescribeRequest)
@structure
class ShareGroupDescribeResponse(Response):
    throttle_time_ms: int = int32(default=0)
    groups: Sequence[DescribedGroup] = array(DescribedGroup)
