"""OffsetCommit (8), v2-10.

v5 no retention time   v6 leader epoch (KIP-320)   v7 static members (KIP-345)   v8 flexible
v9 consumer group protocol (KIP-848)   v10 topic ids

Partitions that do not exist are rejected here; the coordinator knows topics by name only.
"""

from collections.abc import Awaitable, Sequence

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
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

TOPIC_IDS_SINCE = 10


async def handle(ctx: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    known: list[OffsetCommitRequestTopic] = []
    refused: list[OffsetCommitResponseTopic] = []
    for topic in request.topics:
        found, missing = _sort_out(ctx, topic)
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


def _sort_out(
    ctx: RequestContext, topic: OffsetCommitRequestTopic
) -> tuple[OffsetCommitRequestTopic | None, OffsetCommitResponseTopic | None]:
    """The partitions of a topic that exist, under the topic's name, and the errors for those that do not."""
    catalog = ctx.broker.catalog
    by_id = ctx.version >= TOPIC_IDS_SINCE
    entry = catalog.find_by_id(TopicId(topic.topic_id)) if by_id else catalog.find(topic.name)
    if entry is None:
        code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return None, _refusal(topic, code, topic.partitions)
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
