"""DeleteTopics: deletes topics by name or id.

v1 throttle time. v2 the response is sent before throttling. v3 TOPIC_DELETION_DISABLED possible. v4 flexible.
v5 error messages; THROTTLING_QUOTA_EXCEEDED possible (KIP-599). v6 also by id, in a list of its own
(KIP-516).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
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
class DeleteTopicState:
    name: str | None = string(nullable="0+", default=None)
    topic_id: TopicId = uuid()


@request(20, versions="1-6", flexible="4+")
@structure
class DeleteTopicsRequest(Request):
    topics: Sequence[DeleteTopicState] = array(DeleteTopicState, versions="6+", default=())
    topic_names: Sequence[str] = array("string", versions="0-5", default=(), ignorable=True)
    timeout_ms: int = int32()


@structure
class DeletableTopicResult:
    name: str | None = string(nullable="6+")
    topic_id: TopicId = uuid(versions="6+", default=TOPIC_ID_ZERO, ignorable=True)
    error_code: int = int16(default=0)
    error_message: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)


@response(DeleteTopicsRequest)
@structure
class DeleteTopicsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    responses: Sequence[DeletableTopicResult] = array(DeletableTopicResult)
