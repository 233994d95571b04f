"""StreamsGroupDescribe: state, members and topology of streams groups (KIP-1071).

Not served by Moldau yet. Declared so that messages of other brokers and clients can be decoded.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    int64,
    nested,
    request,
    response,
    string,
    structure,
    uint16,
)


@request(89, versions="0", flexible="0+")
@structure
class StreamsGroupDescribeRequest(Request):
    group_ids: Sequence[str] = array("string")
    include_authorized_operations: bool = bool8()


@structure
class KeyValue:
    key: str = string()
    value: str = string()


@structure
class TopicInfo:
    name: str = string()
    partitions: int = int32()
    replication_factor: int = int16()
    topic_configs: Sequence[KeyValue] = array(KeyValue)


@structure
class Subtopology:
    subtopology_id: str = string()
    source_topics: Sequence[str] = array("string")
    repartition_sink_topics: Sequence[str] = array("string")
    state_changelog_topics: Sequence[TopicInfo] = array(TopicInfo)
    repartition_source_topics: Sequence[TopicInfo] = array(TopicInfo)


@structure
class Topology:
    epoch: int = int32()
    subtopologies: Sequence[Subtopology] | None = array(Subtopology, nullable="0+", default=None)


@structure
class Endpoint:
    host: str = string()
    port: int = uint16()


@structure
class TaskOffset:
    subtopology_id: str = string()
    partition: int = int32()
    offset: int = int64()


@structure
class TaskIds:
    subtopology_id: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class Assignment:
    active_tasks: Sequence[TaskIds] = array(TaskIds)
    standby_tasks: Sequence[TaskIds] = array(TaskIds)
    warmup_tasks: Sequence[TaskIds] = array(TaskIds)


@structure
class Member:
    member_id: str = string()
    member_epoch: int = int32()
    instance_id: str | None = string(nullable="0+", default=None)
    rack_id: str | None = string(nullable="0+", default=None)
    client_id: str = string()
    client_host: str = string()
    topology_epoch: int = int32()
    process_id: str = string()
    user_endpoint: Endpoint | None = nested(Endpoint, nullable="0+", default=None)
    client_tags: Sequence[KeyValue] = array(KeyValue)
    task_offsets: Sequence[TaskOffset] = array(TaskOffset)
    task_end_offsets: Sequence[TaskOffset] = array(TaskOffset)
    assignment: Assignment = nested(Assignment)
    target_assignment: Assignment = nested(Assignment)
    is_classic: bool = bool8()


@structure
class DescribedGroup:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    topology: Topology | None = nested(Topology, nullable="0+", default=None)
    members: Sequence[Member] = array(Member)
    authorized_operations: int = int32(default=-0x8000_0000)


@response(StreamsGroupDescribeRequest)
@structure
class StreamsGroupDescribeResponse(Response):
    throttle_time_ms: int = int32(default=0)
    groups: Sequence[DescribedGroup] = array(DescribedGroup)
