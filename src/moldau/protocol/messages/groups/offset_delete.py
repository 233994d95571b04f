"""OffsetDelete: deletes committed offsets of a group (KIP-496)."""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, int32, request, response, string, structure


@structure
class OffsetDeleteRequestPartition:
    partition_index: int = int32()


@structure
class OffsetDeleteRequestTopic:
    name: str = string()
    partitions: Sequence[OffsetDeleteRequestPartition] = array(OffsetDeleteRequestPartition)


@request(47, versions="0", flexible="none")
@structure
class OffsetDeleteRequest(Request):
    group_id: str = string()
    topics: Sequence[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic)


@structure
class OffsetDeleteResponsePartition:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@structure
class OffsetDeleteResponseTopic:
    name: str = string()
    partitions: Sequence[OffsetDeleteResponsePartition] = array(OffsetDeleteResponsePartition)


@response(OffsetDeleteRequest)
@structure
class OffsetDeleteResponse(Response):
    error_code: int = int16(default=0)
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic)
