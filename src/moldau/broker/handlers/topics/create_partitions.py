"""CreatePartitions (37), v0-3.

v2 flexible   v3 quota errors (KIP-599)
"""

from collections import Counter
from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.mutation_quota import MutationQuota
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.topics.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from moldau.security.access.model import Operation, ResourceKind

QUOTA_ERRORS_SINCE: Final = 3


async def handle(ctx: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    quota = MutationQuota(ctx, strict_since=QUOTA_ERRORS_SINCE)
    times = Counter(topic.name for topic in request.topics)
    results = [
        CreatePartitionsTopicResult(
            name=name, error_code=ErrorCode.INVALID_REQUEST, error_message="Duplicate topic name."
        )
        for name, count in times.items()
        if count > 1
    ]
    allowed = ctx.allowed(Operation.ALTER, ResourceKind.TOPIC, times)
    for topic in request.topics:
        if times[topic.name] > 1:
            continue
        if topic.name in allowed:
            results.append(await _grow(ctx, topic, quota, validate_only=request.validate_only))
        else:
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            results.append(CreatePartitionsTopicResult(name=topic.name, error_code=code))
    return CreatePartitionsResponse(throttle_time_ms=quota.throttle_ms(), results=results)


API = ApiSpec.of(CreatePartitionsRequest, handle)


async def _grow(
    ctx: RequestContext, topic: CreatePartitionsTopic, quota: MutationQuota, *, validate_only: bool
) -> CreatePartitionsTopicResult:
    assignments = None if topic.assignments is None else [each.broker_ids for each in topic.assignments]
    entry = ctx.broker.catalog.find(topic.name)
    before = 0 if entry is None else len(entry.partitions)
    try:
        quota.check()
        await ctx.broker.topics.grow(topic.name, topic.count, assignments, validate_only=validate_only)
    except ApiError as error:
        return CreatePartitionsTopicResult(
            name=topic.name, error_code=error.code, error_message=error.message
        )
    if not validate_only:
        quota.record(topic.count - before)
    return CreatePartitionsTopicResult(name=topic.name)
