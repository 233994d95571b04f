"""CreateTopics (19), v2-7.

v2 the lowest version   v4 counts of -1 take the broker's defaults (KIP-464)
v5 flexible, returns the configuration of the new topic (KIP-525)   v6 quota errors (KIP-599)   v7 topic id

A name that occurs twice is rejected. Topics are created one by one; one that fails does not affect the
others.
"""

from collections import Counter
from typing import Final

from moldau.broker.configs.config_admin import describe_topic
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.mutation_quota import MutationQuota
from moldau.broker.topics.topic_rules import NewTopic, check_total
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.topics.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from moldau.security.access.model import Operation, ResourceKind

QUOTA_ERRORS_SINCE: Final = 6


async def handle(ctx: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    quota = MutationQuota(ctx, strict_since=QUOTA_ERRORS_SINCE)
    times = Counter(topic.name for topic in request.topics)
    results = [
        _refused(name, ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name."))
        for name, count in times.items()
        if count > 1
    ]
    once = [topic for topic in request.topics if times[topic.name] == 1]
    names = frozenset(topic.name for topic in once)
    allowed = names
    if not ctx.may_with_cluster(Operation.CREATE, is_logged=False):
        allowed = ctx.allowed(Operation.CREATE, ResourceKind.TOPIC, names)
    forbidden = ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
    results += [_refused(name, forbidden) for name in times if name in names - allowed]
    wanted = [topic for topic in once if topic.name in allowed]
    try:
        check_total(sum(max(topic.num_partitions, len(topic.assignments), 1) for topic in wanted))
    except ApiError as error:
        results += [_refused(topic.name, error) for topic in wanted]
    else:
        results += [await _create(ctx, topic, quota, validate_only=request.validate_only) for topic in wanted]
    return CreateTopicsResponse(throttle_time_ms=quota.throttle_ms(), topics=results)


API = ApiSpec.of(CreateTopicsRequest, handle)


async def _create(
    ctx: RequestContext, topic: CreatableTopic, quota: MutationQuota, *, validate_only: bool
) -> CreatableTopicResult:
    new = NewTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=[(each.partition_index, each.broker_ids) for each in topic.assignments],
        configs=[(each.name, each.value) for each in topic.configs],
    )
    try:
        quota.check()
        entry = await ctx.broker.topics.create(new, validate_only=validate_only)
    except ApiError as error:
        return _refused(topic.name, error)
    if not validate_only:
        quota.record(len(entry.partitions))
    if not ctx.may(Operation.DESCRIBE_CONFIGS, ResourceKind.TOPIC, topic.name, is_logged=False):
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return CreatableTopicResult(
            name=entry.name, topic_id=entry.topic_id, error_message=None, topic_config_error_code=code
        )
    return CreatableTopicResult(
        name=entry.name,
        topic_id=entry.topic_id,
        error_message=None,
        num_partitions=len(entry.partitions),
        replication_factor=len(entry.partitions[0].replicas),
        configs=[
            CreatableTopicConfigs(
                name=config.name,
                value=config.value,
                read_only=config.is_read_only,
                config_source=config.source,
                is_sensitive=config.is_sensitive,
            )
            for config in describe_topic(ctx.broker.configs, entry.configs)
        ],
    )


def _refused(name: str, error: ApiError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)
