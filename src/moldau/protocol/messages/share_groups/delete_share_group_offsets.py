"""DeleteShareGroupOffsets: deletes a share group's offsets of topics (KIP-932). Not served by a broker of
ours yet.
"""

from collections.abc import Sequence

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int16,
    int32,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class DeleteShareGroupOffsetsRequestTopic:
    topic_name: str = string()


@request(92, versions="0", flexible="0+")
@structure
class DeleteShareGroupOffsetsRequest(Request):
    group_id: str = string()
    topics: Sequence[DeleteShareGroupOffsetsRequestTopic] = array(DeleteShareGroupOffsetsRequestTopic)


@structure
class DeleteShareGroupOffsetsResponseTopic:
    topic_name: str = string()
    topic_id: TopicId = uuid()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)


@response(DeleteShareGroupOffsetsRequest)
@structure
class DeleteShareGroupOffsetsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    responses: Sequence[DeleteShareGroupOffsetsResponseTopic] = array(DeleteShareGroupOffsetsResponseTopic)
