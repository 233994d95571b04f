"""StreamsGroupHeartbeat: a member of a streams group joins, stays, changes or leaves (KIP-1071).

Not served by Moldau yet. Declared so that messages of other brokers and clients can be decoded.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int8,
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
class CopartitionGroup:
    source_topics: Sequence[int] = array("int16")
    source_topic_regex: Sequence[int] = array("int16")
    repartition_source_topics: Sequence[int] = array("int16")


@structure
class Subtopology:
    subtopology_id: str = string()
    source_topics: Sequence[str] = array("string")
    source_topic_regex: Sequence[str] = array("string")
    state_changelog_topics: Sequence[TopicInfo] = array(TopicInfo)
    repartition_sink_topics: Sequence[str] = array("string")
    repartition_source_topics: Sequence[TopicInfo] = array(TopicInfo)
    copartition_groups: Sequence[CopartitionGroup] = array(CopartitionGroup)


@structure
class Topology:
    epoch: int = int32()
    subtopologies: Sequence[Subtopology] = array(Subtopology)


@structure
class TaskIds:
    subtopology_id: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class Endpoint:
    host: str = string()
    port: int = uint16()


@structure
class TaskOffset:
    subtopology_id: str = string()
    partition: int = int32()
    offset: int = int64()


@request(88, versions="0", flexible="0+")
@structure
class StreamsGroupHeartbeatRequest(Request):
    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()
    """0 joins, -1 leaves, -2 leaves as a static member that will return."""
    endpoint_information_epoch: int = int32()
    instance_id: str | None = string(nullable="0+", default=None)
    rack_id: str | None = string(nullable="0+", default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    topology: Topology | None = nested(Topology, nullable="0+", default=None)
    active_tasks: Sequence[TaskIds] | None = array(TaskIds, nullable="0+", default=None)
    standby_tasks: Sequence[TaskIds] | None = array(TaskIds, nullable="0+", default=None)
    warmup_tasks: Sequence[TaskIds] | None = array(TaskIds, nullable="0+", default=None)
    process_id: str | None = string(nullable="0+", default=None)
    user_endpoint: Endpoint | None = nested(Endpoint, nullable="0+", default=None)
    client_tags: Sequence[KeyValue] | None = array(KeyValue, nullable="0+", default=None)
    task_offsets: Sequence[TaskOffset] | None = array(TaskOffset, nullable="0+", default=None)
    task_end_offsets: Sequence[TaskOffset] | None = array(TaskOffset, nullable="0+", default=None)
    shutdown_application: bool = bool8(default=False)


@structure
class Status:
    status_code: int = int8()
    status_detail: str = string()


@structure
class TopicPartition:
    topic: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class EndpointToPartitions:
    user_endpoint: Endpoint = nested(Endpoint)
    active_partitions: Sequence[TopicPartition] = array(TopicPartition)
    standby_partitions: Sequence[TopicPartition] = array(TopicPartition)


@response(StreamsGroupHeartbeatRequest)
@structure
class StreamsGroupHeartbeatResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    member_id: str = string()
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    acceptable_recovery_lag: int = int32()
    task_offset_interval_ms: int = int32()
    status: Sequence[Status] | None = array(Status, nullable="0+")
    active_tasks: Sequence[TaskIds] | None = array(TaskIds, nullable="0+", default=None)
    standby_tasks: Sequence[TaskIds] | None = array(TaskIds, nullable="0+", default=None)
    warmup_tasks: Sequence[TaskIds] | None = array(TaskIds, nullable="0+", default=None)
    endpoint_information_epoch: int = int32()
    partitions_by_user_endpoint: Sequence[EndpointToPartitions] | None = array(
        EndpointToPartitions, nullable="0+", default=None
    )
