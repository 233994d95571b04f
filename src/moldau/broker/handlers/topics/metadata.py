"""Metadata (3), v0-13.

v1 null asks for all topics   v4 opt-out of auto-creation   v5 offline replicas   v7 leader epoch
v8 authorised operations   v9 flexible   v10 topic ids   v11 no cluster operations   v12 topics by id alone
v13 top-level error

A topic that may be auto-created is created before the answer, so the client need not ask again. An internal topic
gets the partitions and settings that its coordinator needs, as in Kafka.
"""

from collections.abc import Awaitable, Sequence
from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.catalog import TopicEntry
from moldau.broker.topics.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from moldau.broker.topics.mutation_quota import MutationQuota
from moldau.broker.topics.topic_admin import topic_name_problem
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.messages.topics.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from moldau.security.access.model import CLUSTER_NAME, Operation, ResourceKind

NULL_MEANS_ALL_SINCE: Final = 1
OPERATIONS_NOT_ASKED: Final = -(2**31)


def handle(ctx: RequestContext, request: MetadataRequest) -> MetadataResponse | Awaitable[MetadataResponse]:
    if request.topics is None or (not request.topics and ctx.version < NULL_MEANS_ALL_SINCE):
        entries = list(ctx.broker.catalog.topics())
        names = (entry.name for entry in entries)
        seen = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, names, is_logged=False)
        return _answer(ctx, request, [_known(ctx, request, entry) for entry in entries if entry.name in seen])
    # A topic that is named twice is answered once.
    every = list({(topic.topic_id, topic.name): topic for topic in request.topics}.values())
    wanted, hidden = _visible(ctx, every)
    missing = [] if not _may_create(ctx, request) else _creatable(ctx, wanted)
    if missing and not ctx.may_with_cluster(Operation.CREATE, is_logged=False):
        allowed = ctx.allowed(Operation.CREATE, ResourceKind.TOPIC, missing)
        hidden += [
            _unknown(ErrorCode.TOPIC_AUTHORIZATION_FAILED, name, TOPIC_ID_ZERO)
            for name in missing
            if name not in allowed
        ]
        forbidden = frozenset(missing) - allowed
        wanted = [topic for topic in wanted if topic.name not in forbidden]
        missing = [name for name in missing if name in allowed]
    if missing:
        return _create_and_answer(ctx, request, wanted, hidden, missing)
    return _answer(ctx, request, [*(_topic(ctx, request, topic) for topic in wanted), *hidden])


API = ApiSpec.of(MetadataRequest, handle, is_cached=True)


def _visible(
    ctx: RequestContext, wanted: Sequence[MetadataRequestTopic]
) -> tuple[list[MetadataRequestTopic], list[MetadataResponseTopic]]:
    """The topics that the client may know of, and the answers for the others: with the id or the name by which the
    client asked, not both."""
    names = [_name(ctx, topic) for topic in wanted]
    seen = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, (name for name in names if name is not None))
    visible, hidden = [], []
    for topic, name in zip(wanted, names, strict=True):
        if name is None or name in seen:
            visible.append(topic)
        else:
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            by_id = topic.topic_id != TOPIC_ID_ZERO
            hidden.append(_unknown(code, None if by_id else name, TopicId(topic.topic_id)))
    return visible, hidden


def _name(ctx: RequestContext, topic: MetadataRequestTopic) -> str | None:
    """None for an id that no topic has."""
    if topic.topic_id == TOPIC_ID_ZERO:
        return topic.name or ""
    entry = ctx.broker.catalog.find_by_id(TopicId(topic.topic_id))
    return None if entry is None else entry.name


async def _create_and_answer(
    ctx: RequestContext,
    request: MetadataRequest,
    wanted: Sequence[MetadataRequestTopic],
    hidden: Sequence[MetadataResponseTopic],
    missing: list[str],
) -> MetadataResponse:
    quota = MutationQuota(ctx, strict_since=0)
    for name in missing:
        try:
            await _create(ctx, name, quota)
        except ApiError:  # If creation fails the topic is reported as unknown below.
            continue
    return _answer(ctx, request, [*(_topic(ctx, request, topic) for topic in wanted), *hidden])


async def _create(ctx: RequestContext, name: str, quota: MutationQuota) -> None:
    if name == OFFSETS_TOPIC:
        await ctx.broker.groups.shards.ensure()
    elif name == TRANSACTIONS_TOPIC:
        await ctx.broker.transactions.shards.ensure()
    else:
        quota.check()
        entry = await ctx.broker.topics.create_with_defaults(name)
        quota.record(len(entry.partitions))


def _may_create(ctx: RequestContext, request: MetadataRequest) -> bool:
    return request.allow_auto_topic_creation and ctx.broker.configs.broker.auto_create_topics_enable


def _creatable(ctx: RequestContext, wanted: Sequence[MetadataRequestTopic]) -> list[str]:
    names = dict.fromkeys(topic.name for topic in wanted if topic.topic_id == TOPIC_ID_ZERO)
    return [
        name
        for name in names
        if name and ctx.broker.catalog.find(name) is None and topic_name_problem(name) is None
    ]


def _topic(
    ctx: RequestContext, request: MetadataRequest, wanted: MetadataRequestTopic
) -> MetadataResponseTopic:
    catalog = ctx.broker.catalog
    if wanted.topic_id != TOPIC_ID_ZERO:
        entry = catalog.find_by_id(TopicId(wanted.topic_id))
        if entry is None:
            return _unknown(ErrorCode.UNKNOWN_TOPIC_ID, None, TopicId(wanted.topic_id))
        return _known(ctx, request, entry)
    name = wanted.name or ""
    entry = catalog.find(name)
    if entry is not None:
        return _known(ctx, request, entry)
    is_bad_name = topic_name_problem(name) is not None
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if is_bad_name else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return _unknown(code, name, TOPIC_ID_ZERO, _operations(ctx, request, name))


def _operations(ctx: RequestContext, request: MetadataRequest, topic: str) -> int:
    is_asked = request.include_topic_authorized_operations
    return ctx.operations(ResourceKind.TOPIC, topic) if is_asked else OPERATIONS_NOT_ASKED


def _unknown(
    code: ErrorCode, name: str | None, topic_id: TopicId, operations: int = OPERATIONS_NOT_ASKED
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=False,
        partitions=[],
        topic_authorized_operations=operations,
    )


def _known(ctx: RequestContext, request: MetadataRequest, entry: TopicEntry) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=entry.name,
        topic_id=entry.topic_id,
        is_internal=entry.is_internal,
        partitions=[
            MetadataResponsePartition(
                error_code=ErrorCode.NONE if partition.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                offline_replicas=ctx.broker.members.offline(partition.replicas),
            )
            for index, partition in enumerate(entry.partitions)
        ],
        topic_authorized_operations=_operations(ctx, request, entry.name),
    )


def _answer(
    ctx: RequestContext, request: MetadataRequest, topics: list[MetadataResponseTopic]
) -> MetadataResponse:
    broker = ctx.broker
    return MetadataResponse(
        throttle_time_ms=0,
        brokers=[
            MetadataResponseBroker(node_id=broker_id, host=host, port=port, rack=rack)
            for broker_id, (host, port), rack in broker.members.seen_by(ctx.client.connection)
        ],
        cluster_id=broker.cluster_id,
        controller_id=broker.members.admin_broker_id,
        topics=topics,
        cluster_authorized_operations=(
            cluster_operations(ctx) if request.include_cluster_authorized_operations else OPERATIONS_NOT_ASKED
        ),
        error_code=ErrorCode.NONE,
    )


def cluster_operations(ctx: RequestContext) -> int:
    """None for a client that may not describe the cluster."""
    if not ctx.may_with_cluster(Operation.DESCRIBE):
        return 0
    return ctx.operations(ResourceKind.CLUSTER, CLUSTER_NAME)
