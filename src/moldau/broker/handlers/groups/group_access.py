"""What the client may do with a group, and with the topics whose offsets the group keeps."""

from collections.abc import Iterable
from typing import Any

from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.spec import Request
from moldau.security.access.model import Operation, ResourceKind


def ask_if_allowed(ctx: RequestContext, operation: Operation, group_id: str, request: Request) -> Any:
    """The reply of the group's shard, or an awaitable of it."""
    if not ctx.may(operation, ResourceKind.GROUP, group_id):
        return forbidden(request, ctx.version)
    return ctx.broker.groups.ask(group_id, request, ctx.version, ctx.client)


def forbidden(request: Request, version: int, code: ErrorCode = ErrorCode.GROUP_AUTHORIZATION_FAILED) -> Any:
    # Not imported at the top: it imports the answers of all group requests.
    from moldau.broker.group.refusals import refused

    return refused(request, version, code)


def offset_errors(ctx: RequestContext, places: Iterable[TopicPartition]) -> dict[TopicPartition, ErrorCode]:
    """The partitions whose offsets the client cannot change: it may not read the topic, or there is no such
    partition."""
    every = list(places)
    allowed = ctx.allowed(Operation.READ, ResourceKind.TOPIC, (place.topic for place in every))
    found = ((place, _offset_error(ctx, place, allowed)) for place in every)
    return {place: code for place, code in found if code is not ErrorCode.NONE}


def _offset_error(ctx: RequestContext, place: TopicPartition, allowed: frozenset[str]) -> ErrorCode:
    if place.topic not in allowed:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    entry = ctx.broker.catalog.find(place.topic)
    is_there = entry is not None and 0 <= place.partition < len(entry.partitions)
    return ErrorCode.NONE if is_there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
