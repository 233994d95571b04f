"""DeleteTopics (20), v1-6.

v3 a separate error when deletion is disabled   v4 flexible   v5 error messages, quota errors (KIP-599)
v6 topics by name or by id
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.catalog import TopicEntry
from moldau.broker.topics.mutation_quota import MutationQuota
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.messages.topics.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from moldau.security.access.model import Operation, ResourceKind

IDS_SINCE: Final = 6
DISABLED_SINCE: Final = 3
QUOTA_ERRORS_SINCE: Final = 5
NOT_HERE: Final = "This server does not host this topic-partition."
FORBIDDEN: Final = "Topic authorization failed."
ID_NOT_HERE: Final = "This server does not host this topic ID."


async def handle(ctx: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    wanted: Sequence[DeleteTopicState] = request.topics
    if ctx.version < IDS_SINCE:
        wanted = [DeleteTopicState(name=name, topic_id=TOPIC_ID_ZERO) for name in request.topic_names]
    times = Counter(_key(state) for state in wanted)
    access = _access(ctx, wanted)
    quota = MutationQuota(ctx, strict_since=QUOTA_ERRORS_SINCE)
    results = []
    for key, state in {_key(state): state for state in wanted}.items():
        entry = _find(ctx, key)
        if (
            entry is not None
            and isinstance(key, bytes)
            and entry.name in times
            and entry.name in access.deletable
        ):
            continue  # It is already answered under its name.
        results.append(await _delete(ctx, state, entry, times, access, quota))
    return DeleteTopicsResponse(throttle_time_ms=quota.throttle_ms(), responses=results)


API = ApiSpec.of(DeleteTopicsRequest, handle)


class _Access(NamedTuple):
    """The names of topics that may be seen, and deleted."""

    describable: frozenset[str]
    deletable: frozenset[str]


def _access(ctx: RequestContext, wanted: Sequence[DeleteTopicState]) -> _Access:
    entries = ((state, _find(ctx, _key(state))) for state in wanted)
    names = frozenset(state.name or "" if entry is None else entry.name for state, entry in entries)
    if ctx.may_with_cluster(Operation.DELETE, is_logged=False):
        return _Access(names, names)
    return _Access(
        ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, names),
        ctx.allowed(Operation.DELETE, ResourceKind.TOPIC, names),
    )


async def _delete(
    ctx: RequestContext,
    state: DeleteTopicState,
    entry: TopicEntry | None,
    times: Mapping[str | TopicId, int],
    access: _Access,
    quota: MutationQuota,
) -> DeletableTopicResult:
    topic_id = TopicId(state.topic_id)
    name = state.name
    try:
        _check(state, times)
        if state.name is not None and state.name not in access.describable:
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, FORBIDDEN)
        if entry is None:
            if state.name is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, ID_NOT_HERE)
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOT_HERE)
        if entry.name not in access.deletable:
            name = entry.name if entry.name in access.describable else None
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, FORBIDDEN)
        topic_id = entry.topic_id
        if state.name is not None and topic_id in times:
            raise _invalid("The provided topic name maps to an ID that was already supplied.")
        quota.check()
        await ctx.broker.topics.delete(entry)
        quota.record(len(entry.partitions))
        ctx.broker.groups.topics_deleted([entry.name])
    except ApiError as error:
        code = error.code
        if code is ErrorCode.TOPIC_DELETION_DISABLED and ctx.version < DISABLED_SINCE:
            code = ErrorCode.INVALID_REQUEST
        return DeletableTopicResult(
            name=name, topic_id=topic_id, error_code=code, error_message=error.message
        )
    return DeletableTopicResult(name=entry.name, topic_id=topic_id)


def _check(state: DeleteTopicState, times: Mapping[str | TopicId, int]) -> None:
    if state.name is None and state.topic_id == TOPIC_ID_ZERO:
        raise _invalid("Neither topic name nor id were specified.")
    if state.name is not None and state.topic_id != TOPIC_ID_ZERO:
        raise _invalid("You may not specify both topic name and topic id.")
    if times[_key(state)] > 1:
        raise _invalid("Duplicate topic id." if state.name is None else "Duplicate topic name.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def _key(state: DeleteTopicState) -> str | TopicId:
    return TopicId(state.topic_id) if state.name is None else state.name


def _find(ctx: RequestContext, key: str | TopicId) -> TopicEntry | None:
    return ctx.broker.catalog.find(key) if isinstance(key, str) else ctx.broker.catalog.find_by_id(key)
