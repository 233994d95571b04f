"""OffsetFetch: the offsets up to which a group has consumed.

v2 null asks for all topics; an error code for the group. v3 throttle time. v4 the response is sent before
throttling. v5 leader epochs (KIP-320). v6 flexible. v7 stable offsets only (KIP-447). v8 several groups at
once (KIP-709). v9 members of consumer groups are checked (KIP-848). v10 topic ids (KIP-848).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class OffsetFetchRequestTopic:
    name: str = string()
    partition_indexes: Sequence[int] = array("int32")


@structure
class OffsetFetchRequestTopics:
    name: str = string(versions="0-9", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="10+", default=TOPIC_ID_ZERO, ignorable=True)
    partition_indexes: Sequence[int] = array("int32")


@structure
class OffsetFetchRequestGroup:
    group_id: str = string()
    member_id: str | None = string(versions="9+", nullable="9+", default=None, ignorable=True)
    member_epoch: int = int32(versions="9+", default=-1, ignorable=True)
    topics: Sequence[OffsetFetchRequestTopics] | None = array(OffsetFetchRequestTopics, nullable="0+")


@request(9, versions="1-10", flexible="6+")
@structure
class OffsetFetchRequest(Request):
    group_id: str = string(versions="0-7", default="")
    topics: Sequence[OffsetFetchRequestTopic] | None = array(
        OffsetFetchRequestTopic, versions="0-7", nullable="2-7", default=()
    )
    groups: Sequence[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, versions="8+", default=())
    require_stable: bool = bool8(versions="7+", default=False)


@structure
class OffsetFetchResponsePartition:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(versions="5+", default=-1, ignorable=True)
    metadata: str | None = string(nullable="0+")
    error_code: int = int16(default=0)


@structure
class OffsetFetchResponseTopic:
    name: str = string()
    partitions: Sequence[OffsetFetchResponsePartition] = array(OffsetFetchResponsePartition)


@structure
class OffsetFetchResponsePartitions:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(default=-1)
    metadata: str | None = string(nullable="0+")
    error_code: int = int16(default=0)


@structure
class OffsetFetchResponseTopics:
    name: str = string(versions="0-9", default="", ignorable=True)
    topic_id: TopicId = uuid(versions="10+", default=TOPIC_ID_ZERO, ignorable=True)
    partitions: Sequence[OffsetFetchResponsePartitions] = array(OffsetFetchResponsePartitions)


@structure
class OffsetFetchResponseGroup:
    group_id: str = string()
    topics: Sequence[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics)
    error_code: int = int16(default=0)


@response(OffsetFetchRequest)
@structure
class OffsetFetchResponse(Response):
    throttle_time_ms: int = int32(versions="3+", default=0, ignorable=True)
    topics: Sequence[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, versions="0-7", default=())
    error_code: int = int16(versions="2-7", default=0, ignorable=True)
    groups: Sequence[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, versions="8+", default=())
