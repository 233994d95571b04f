"""OffsetDelete (47), v0: deletes committed offsets of topics the group does not consume (KIP-496)."""

from collections.abc import Awaitable

from moldau.broker.handlers.groups.group_access import forbidden, offset_errors
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.groups.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    if not ctx.may(Operation.DELETE, ResourceKind.GROUP, request.group_id):
        refusal: OffsetDeleteResponse = forbidden(request, ctx.version)
        return refusal
    errors = offset_errors(
        ctx,
        (
            TopicPartition(topic.name, each.partition_index)
            for topic in request.topics
            for each in topic.partitions
        ),
    )
    topics = [
        OffsetDeleteRequestTopic(
            name=topic.name,
            partitions=[
                each
                for each in topic.partitions
                if TopicPartition(topic.name, each.partition_index) not in errors
            ],
        )
        for topic in request.topics
    ]
    asked = OffsetDeleteRequest(
        group_id=request.group_id, topics=[topic for topic in topics if topic.partitions]
    )
    reply = ctx.broker.groups.ask(request.group_id, asked, ctx.version, ctx.client)
    deleted: OffsetDeleteResponse = await reply if isinstance(reply, Awaitable) else reply
    if deleted.error_code or not errors:
        return deleted
    refused = [
        OffsetDeleteResponseTopic(
            name=place.topic,
            partitions=[OffsetDeleteResponsePartition(partition_index=place.partition, error_code=code)],
        )
        for place, code in errors.items()
    ]
    return OffsetDeleteResponse(topics=_merged([*deleted.topics, *refused]))


API = ApiSpec.of(OffsetDeleteRequest, handle)


def _merged(topics: list[OffsetDeleteResponseTopic]) -> list[OffsetDeleteResponseTopic]:
    """Each topic once."""
    by_name: dict[str, list[OffsetDeleteResponsePartition]] = {}
    for topic in topics:
        by_name.setdefault(topic.name, []).extend(topic.partitions)
    return [
        OffsetDeleteResponseTopic(name=name, partitions=partitions) for name, partitions in by_name.items()
    ]
