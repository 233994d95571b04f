"""ConsumerGroupDescribe (69), v0-1 (KIP-848).

v1 marks members of the classic protocol (KIP-1099)

A group that reads a topic which the client may not describe is not described.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moldau.broker.handlers.groups.ask_each import ask_each
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from moldau.security.access.model import Operation, ResourceKind

HAS_HIDDEN_TOPICS: Final = "The group has described topic(s) that the client is not authorized to describe."


async def handle(ctx: RequestContext, request: ConsumerGroupDescribeRequest) -> ConsumerGroupDescribeResponse:
    allowed = ctx.allowed(Operation.DESCRIBE, ResourceKind.GROUP, request.group_ids)
    replies = await ask_each(
        ctx, [(group_id, _one(request, group_id)) for group_id in request.group_ids if group_id in allowed]
    )
    groups = [group for reply in replies for group in reply.groups]
    if request.include_authorized_operations:
        groups = [_with_operations(ctx, group) for group in groups]
    seen = ctx.allowed(
        Operation.DESCRIBE, ResourceKind.TOPIC, (name for group in groups for name in _topics(group))
    )
    return ConsumerGroupDescribeResponse(
        groups=[
            *(
                _forbidden(group_id, ErrorCode.GROUP_AUTHORIZATION_FAILED)
                for group_id in request.group_ids
                if group_id not in allowed
            ),
            *(
                group
                if seen.issuperset(_topics(group))
                else _forbidden(group.group_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED, HAS_HIDDEN_TOPICS)
                for group in groups
            ),
        ]
    )


API = ApiSpec.of(ConsumerGroupDescribeRequest, handle)


def _one(request: ConsumerGroupDescribeRequest, group_id: str) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(
        group_ids=[group_id], include_authorized_operations=request.include_authorized_operations
    )


def _with_operations(ctx: RequestContext, group: DescribedGroup) -> DescribedGroup:
    if group.error_code:
        return group
    return replace(group, authorized_operations=ctx.operations(ResourceKind.GROUP, group.group_id))


def _topics(group: DescribedGroup) -> Iterator[str]:
    """The topics of which members have partitions, or are about to have them."""
    for member in group.members:
        for assignment in (member.assignment, member.target_assignment):
            for topic in assignment.topic_partitions:
                yield topic.topic_name


def _forbidden(group_id: str, code: ErrorCode, message: str | None = None) -> DescribedGroup:
    return DescribedGroup(
        error_code=code,
        error_message=message,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )
