"""Asks for several groups one by one: each group belongs to a shard of its own."""

from collections.abc import Awaitable, Sequence
from typing import Any

from moldau.broker.request.client_session import RequestContext
from moldau.protocol.spec import Request


async def ask_each(
    ctx: RequestContext, asked: Sequence[tuple[str, Request]], *, version: int | None = None
) -> list[Any]:
    """The replies to each (group id, request), in order."""
    replies = []
    for group_id, request in asked:
        reply = ctx.broker.groups.ask(group_id, request, version or ctx.version, ctx.client)
        replies.append(await reply if isinstance(reply, Awaitable) else reply)
    return replies
