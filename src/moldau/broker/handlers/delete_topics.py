"""DeleteTopics (20), v1-6.

v3 an error of its own when deletion is disabled   v4 flexible   v5 error messages   v6 topics by name or by id
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.api_table import ApiSpec
from moldau.broker.catalog import TopicEntry
from moldau.broker.session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

IDS_SINCE: Final = 6
DISABLED_SINCE: Final = 3
NOT_HERE: Final = "This server does not host this topic-partition."
ID_NOT_HERE: Final = "This server does not host this topic ID."


async def handle(ctx: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    wanted: Sequence[DeleteTopicState] = request.topics
    if ctx.version < IDS_SINCE:
        wanted = [DeleteTopicState(name=name, topic_id=TOPIC_ID_ZERO) for name in request.topic_names]
    seen: dict[str | TopicId, int] = {}
    for state in wanted:
        key = state.name if state.name is not None else TopicId(state.topic_id)
        seen[key] = seen.get(key, 0) + 1
    by_id = {entry.name for key in seen if (entry := _find(ctx, key)) and not isinstance(key, str)}
    results = []
    for state in wanted:
        key = state.name if state.name is not None else TopicId(state.topic_id)
        times = seen.pop(key, 0)
        if times:
            results.append(await _delete(ctx, state, key, times, by_id))
    return DeleteTopicsResponse(responses=results)


API = ApiSpec.of(DeleteTopicsRequest, handle)


async def _delete(
    ctx: RequestContext, state: DeleteTopicState, key: str | TopicId, times: int, by_id: set[str]
) -> DeletableTopicResult:
    entry = _find(ctx, key)
    try:
        _check(state, key, times, by_id)
        if entry is None:
            if isinstance(key, str):
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOT_HERE)
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, ID_NOT_HERE)
        await ctx.broker.topics.delete(entry)
    except ApiError as error:
        code = error.code
        if code is ErrorCode.TOPIC_DELETION_DISABLED and ctx.version < DISABLED_SINCE:
            code = ErrorCode.INVALID_REQUEST
        return DeletableTopicResult(
            name=state.name, topic_id=TopicId(state.topic_id), error_code=code, error_message=error.message
        )
    return DeletableTopicResult(name=entry.name, topic_id=entry.topic_id)


def _check(state: DeleteTopicState, key: str | TopicId, times: int, by_id: set[str]) -> None:
    problem = None
    if state.name is None and state.topic_id == TOPIC_ID_ZERO:
        problem = "Neither topic name nor id were specified."
    elif state.name is not None and state.topic_id != TOPIC_ID_ZERO:
        problem = "You may not specify both topic name and topic id."
    elif times > 1:
        problem = "Duplicate topic name." if isinstance(key, str) else "Duplicate topic id."
    elif state.name in by_id:
        problem = "The provided topic name maps to an ID that was already supplied."
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_REQUEST, problem)


def _find(ctx: RequestContext, key: str | TopicId) -> TopicEntry | None:
    return ctx.broker.catalog.find(key) if isinstance(key, str) else ctx.broker.catalog.find_by_id(key)
