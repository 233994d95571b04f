"""OffsetCommit (8), v2-10.

v5 no retention time   v6 leader epoch (KIP-320)   v7 static members (KIP-345)   v8 flexible
v9 consumer group protocol (KIP-848)   v10 topic ids

Partitions that do not exist, and topics that the client may not read, are rejected here; the coordinator knows
topics by name only.
"""

from collections.abc import Awaitable, Sequence

from moldau.broker.group.offsets.replies import commit_refused
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.catalog import TopicEntry
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicId
from moldau.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from moldau.security.access.model import Operation, ResourceKind

TOPIC_IDS_SINCE = 10


async def handle(ctx: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    if not ctx.may(Operation.READ, ResourceKind.GROUP, request.group_id):
        return commit_refused(request, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    entries = [_find(ctx, topic) for topic in request.topics]
    names = (
        topic.name if entry is None else entry.name
        for topic, entry in zip(request.topics, entries, strict=True)
    )
    allowed = ctx.allowed(Operation.READ, ResourceKind.TOPIC, names)
    known: list[OffsetCommitRequestTopic] = []
    refused: list[OffsetCommitResponseTopic] = []
    for topic, entry in zip(request.topics, entries, strict=True):
        found, missing = _sort_out(ctx, topic, entry, allowed)
        if found is not None:
            known.append(found)
        if missing is not None:
            refused.append(missing)
    if not known:
        return OffsetCommitResponse(topics=refused)
    asked = OffsetCommitRequest(
        group_id=request.group_id,
        generation_id_or_member_epoch=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        topics=known,
    )
    reply = ctx.broker.groups.ask(request.group_id, asked, ctx.version, ctx.client)
    committed: OffsetCommitResponse = await reply if isinstance(reply, Awaitable) else reply
    return OffsetCommitResponse(topics=[*committed.topics, *refused])


API = ApiSpec.of(OffsetCommitRequest, handle)


def _find(ctx: RequestContext, topic: OffsetCommitRequestTopic) -> TopicEntry | None:
    catalog = ctx.broker.catalog
    by_id = ctx.version >= TOPIC_IDS_SINCE
    return catalog.find_by_id(TopicId(topic.topic_id)) if by_id else catalog.find(topic.name)


def _sort_out(
    ctx: RequestContext, topic: OffsetCommitRequestTopic, entry: TopicEntry | None, allowed: frozenset[str]
) -> tuple[OffsetCommitRequestTopic | None, OffsetCommitResponseTopic | None]:
    """The partitions of a topic that exist, under the topic's name, and the errors for the others."""
    if entry is None and ctx.version >= TOPIC_IDS_SINCE:
        return None, _refusal(topic, ErrorCode.UNKNOWN_TOPIC_ID, topic.partitions)
    if (topic.name if entry is None else entry.name) not in allowed:
        return None, _refusal(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED, topic.partitions)
    if entry is None:
        return None, _refusal(topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic.partitions)
    count = len(entry.partitions)
    there = [each for each in topic.partitions if 0 <= each.partition_index < count]
    gone = [each for each in topic.partitions if not 0 <= each.partition_index < count]
    known = OffsetCommitRequestTopic(name=entry.name, topic_id=entry.topic_id, partitions=there)
    refusal = _refusal(topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, gone) if gone else None
    return (known if there else None), refusal


def _refusal(
    topic: OffsetCommitRequestTopic, code: ErrorCode, partitions: Sequence[OffsetCommitRequestPartition]
) -> OffsetCommitResponseTopic:
    return OffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
            for each in partitions
        ],
    )
