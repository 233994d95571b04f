"""CreateTopics: creates topics, with given replicas or with counts.

v2 throttle time. v3 the response is sent before throttling. v4 counts may be left to the broker's defaults
(KIP-464). v5 flexible; the response has the topic's configs (KIP-525). v6 THROTTLING_QUOTA_EXCEEDED possible
(KIP-599). v7 the response has the topic's id (KIP-516).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class CreatableReplicaAssignment:
    partition_index: int = int32()
    broker_ids: Sequence[int] = array("int32")


@structure
class CreatableTopicConfig:
    name: str = string()
    value: str | None = string(nullable="0+")


@structure
class CreatableTopic:
    name: str = string()
    num_partitions: int = int32()
    """-1 takes the broker's default, or follows from the assignments."""
    replication_factor: int = int16()
    """-1 as above."""
    assignments: Sequence[CreatableReplicaAssignment] = array(CreatableReplicaAssignment)
    configs: Sequence[CreatableTopicConfig] = array(CreatableTopicConfig)


@request(19, versions="2-7", flexible="5+")
@structure
class CreateTopicsRequest(Request):
    topics: Sequence[CreatableTopic] = array(CreatableTopic)
    timeout_ms: int = int32(default=60000)
    validate_only: bool = bool8(default=False)


@structure
class CreatableTopicConfigs:
    name: str = string()
    value: str | None = string(nullable="0+")
    read_only: bool = bool8()
    config_source: int = int8(default=-1)
    is_sensitive: bool = bool8()


@structure
class CreatableTopicResult:
    name: str = string()
    topic_id: TopicId = uuid(versions="7+", default=TOPIC_ID_ZERO, ignorable=True)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    topic_config_error_code: int = int16(versions="5+", default=0, tag=0, ignorable=True)
    num_partitions: int = int32(versions="5+", default=-1, ignorable=True)
    replication_factor: int = int16(versions="5+", default=-1, ignorable=True)
    configs: Sequence[CreatableTopicConfigs] | None = array(
        CreatableTopicConfigs, versions="5+", nullable="5+", default=(), ignorable=True
    )


@response(CreateTopicsRequest)
@structure
class CreateTopicsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[CreatableTopicResult] = array(CreatableTopicResult)
