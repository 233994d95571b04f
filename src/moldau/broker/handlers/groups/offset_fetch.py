"""OffsetFetch (9), v1-10.

v2 all topics of a group, top-level error   v5 leader epoch (KIP-320)   v6 flexible
v7 stable offsets only (KIP-447)   v8 many groups at once (KIP-709)   v9 consumer group protocol (KIP-848)
v10 topic ids

The coordinator knows topics by name; ids are translated in the request and the answer.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import replace

from moldau.broker.group.offsets.replies import fetched, group_refused, groups_asked_for, no_offset
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
    OffsetFetchResponseTopics,
)
from moldau.security.access.model import Operation, ResourceKind

BATCHED_SINCE = 8
TOPIC_IDS_SINCE = 10


async def handle(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    groups = []
    for group in groups_asked_for(request, ctx.version):
        if not ctx.may(Operation.DESCRIBE, ResourceKind.GROUP, group.group_id):
            groups.append(group_refused(group, ctx.version, ErrorCode.GROUP_AUTHORIZATION_FAILED))
            continue
        named, refused = _by_name(ctx, group)
        asked = OffsetFetchRequest(groups=[named], require_stable=request.require_stable)
        version = max(ctx.version, BATCHED_SINCE)
        reply = ctx.broker.groups.ask(group.group_id, asked, version, ctx.client)
        answer: OffsetFetchResponse = await reply if isinstance(reply, Awaitable) else reply
        groups.append(_completed(ctx, answer.groups[0], refused, sees_all=group.topics is not None))
    return fetched(groups, ctx.version)


API = ApiSpec.of(OffsetFetchRequest, handle)


def _by_name(
    ctx: RequestContext, group: OffsetFetchRequestGroup
) -> tuple[OffsetFetchRequestGroup, Sequence[OffsetFetchResponseTopics]]:
    """The request with all topics by name, and the answers for topics that do not exist or may not be seen."""
    if group.topics is None:
        return group, ()
    by_id = ctx.version >= TOPIC_IDS_SINCE
    find = ctx.broker.catalog.find_by_id
    entries = [find(TopicId(topic.topic_id)) if by_id else None for topic in group.topics]
    topics = [
        topic if entry is None else replace(topic, name=entry.name)
        for topic, entry in zip(group.topics, entries, strict=True)
    ]
    allowed = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, (topic.name for topic in topics))
    known, refused = [], []
    for topic, entry in zip(topics, entries, strict=True):
        if by_id and entry is None:
            refused.append(_refused(topic, ErrorCode.UNKNOWN_TOPIC_ID))
        elif topic.name not in allowed:
            refused.append(_refused(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        else:
            known.append(topic)
    named = OffsetFetchRequestGroup(
        group_id=group.group_id, member_id=group.member_id, member_epoch=group.member_epoch, topics=known
    )
    return named, refused


def _completed(
    ctx: RequestContext,
    group: OffsetFetchResponseGroup,
    refused: Sequence[OffsetFetchResponseTopics],
    *,
    sees_all: bool,
) -> OffsetFetchResponseGroup:
    """`sees_all` False: the client has named no topics, so that those it may not see are left out."""
    topics = group.topics
    if not sees_all:
        seen = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, (topic.name for topic in topics))
        topics = [topic for topic in topics if topic.name in seen]
    if ctx.version >= TOPIC_IDS_SINCE:
        topics = [topic for topic in (_with_id(ctx, topic) for topic in topics) if topic is not None]
    if not group.error_code:
        topics = [*topics, *refused]
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=topics, error_code=group.error_code)


def _with_id(ctx: RequestContext, topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopics | None:
    """A topic that no longer exists has no id: its offsets are left out."""
    entry = ctx.broker.catalog.find(topic.name)
    if entry is None:
        return None
    return OffsetFetchResponseTopics(name=topic.name, topic_id=entry.topic_id, partitions=topic.partitions)


def _refused(topic: OffsetFetchRequestTopics, code: ErrorCode) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[no_offset(index, code) for index in topic.partition_indexes],
    )
