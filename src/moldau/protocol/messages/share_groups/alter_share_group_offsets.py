"""AlterShareGroupOffsets: sets the start offsets of a share group (KIP-932). Not served by Moldau
yet.
"""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
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
class AlterShareGroupOffsetsRequestPartition:
    partition_index: int = int32()
    start_offset: int = int64()


@structure
class AlterShareGroupOffsetsRequestTopic:
    topic_name: str = string()
    partitions: Sequence[AlterShareGroupOffsetsRequestPartition] = array(
        AlterShareGroupOffsetsRequestPartition
    )


@request(91, versions="0", flexible="0+")
@structure
class AlterShareGroupOffsetsRequest(Request):
    group_id: str = string()
    topics: Sequence[AlterShareGroupOffsetsRequestTopic] = array(AlterShareGroupOffsetsRequestTopic)


@structure
class AlterShareGroupOffsetsResponsePartition:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)


@structure
class AlterShareGroupOffsetsResponseTopic:
    topic_name: str = string()
    topic_id: TopicId = uuid()
    partitions: Sequence[AlterShareGroupOffsetsResponsePartition] = array(
        AlterShareGroupOffsetsResponsePartition
    )


@response(AlterShareGroupOffsetsRequest)
@structure
class AlterShareGroupOffsetsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    responses: Sequence[AlterShareGroupOffsetsResponseTopic] = array(AlterShareGroupOffsetsResponseTopic)
