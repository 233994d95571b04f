"""OffsetFetch (9), v1-10.

v2 all topics of a group, top-level error   v5 leader epoch (KIP-320)   v6 flexible
v7 stable offsets only (KIP-447)   v8 many groups at once (KIP-709)   v9 consumer group protocol (KIP-848)
v10 topic ids

The coordinator knows topics by name; ids are translated in the request and the answer.
"""

from collections.abc import Sequence

from moldau.broker.group.offsets.replies import fetched, groups_asked_for
from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicId
from moldau.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

BATCHED_SINCE = 8
TOPIC_IDS_SINCE = 10
NO_OFFSET = -1


async def handle(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    asked = [_by_name(ctx, group) for group in groups_asked_for(request, ctx.version)]
    replies = await ask_each(
        ctx,
        [
            (group.group_id, OffsetFetchRequest(groups=[group], require_stable=request.require_stable))
            for group, _ in asked
        ],
        version=max(ctx.version, BATCHED_SINCE),
    )
    groups = [
        _completed(ctx, reply.groups[0], unknown) for reply, (_, unknown) in zip(replies, asked, strict=True)
    ]
    return fetched(groups, ctx.version)


API = ApiSpec.of(OffsetFetchRequest, handle)


def _by_name(
    ctx: RequestContext, group: OffsetFetchRequestGroup
) -> tuple[OffsetFetchRequestGroup, Sequence[OffsetFetchRequestTopics]]:
    """The request with all topics by name, and the topics that do not exist."""
    if ctx.version < TOPIC_IDS_SINCE or group.topics is None:
        return group, ()
    known, unknown = [], []
    for topic in group.topics:
        entry = ctx.broker.catalog.find_by_id(TopicId(topic.topic_id))
        if entry is None:
            unknown.append(topic)
        else:
            known.append(
                OffsetFetchRequestTopics(
                    name=entry.name, topic_id=entry.topic_id, partition_indexes=topic.partition_indexes
                )
            )
    named = OffsetFetchRequestGroup(
        group_id=group.group_id, member_id=group.member_id, member_epoch=group.member_epoch, topics=known
    )
    return named, unknown


def _completed(
    ctx: RequestContext, group: OffsetFetchResponseGroup, unknown: Sequence[OffsetFetchRequestTopics]
) -> OffsetFetchResponseGroup:
    if ctx.version < TOPIC_IDS_SINCE:
        return group
    topics = [topic for topic in (_with_id(ctx, topic) for topic in group.topics) if topic is not None]
    return OffsetFetchResponseGroup(
        group_id=group.group_id,
        topics=[*topics, *(_unknown(topic) for topic in unknown)],
        error_code=group.error_code,
    )


def _with_id(ctx: RequestContext, topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopics | None:
    """A topic that no longer exists has no id: its offsets are left out."""
    entry = ctx.broker.catalog.find(topic.name)
    if entry is None:
        return None
    return OffsetFetchResponseTopics(name=topic.name, topic_id=entry.topic_id, partitions=topic.partitions)


def _unknown(topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(
                partition_index=index,
                committed_offset=NO_OFFSET,
                metadata="",
                error_code=ErrorCode.UNKNOWN_TOPIC_ID,
            )
            for index in topic.partition_indexes
        ],
    )
