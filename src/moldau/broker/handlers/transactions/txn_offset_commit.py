"""TxnOffsetCommit (28), v0-5.

v2 leader epoch   v3 flexible, membership checked (KIP-447)   v4 abortable errors
v5 adds the offsets partition to the transaction by itself (KIP-890)
"""

from collections.abc import Awaitable

from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.group.offsets.replies import WRITE_ERRORS, txn_commit_refused
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.transactions.txn_membership import join_transaction
from moldau.core.errors import ApiError
from moldau.protocol.messages.transactions.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

JOINS_SINCE = 5


async def handle(ctx: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    broker = ctx.broker
    try:
        await broker.groups.shards.ready(request.group_id)
        await broker.transactions.shards.ensure()
    except ApiError as error:
        return txn_commit_refused(request, coordinator_error(error))
    topic_partition = broker.groups.shards.partition_of(request.group_id)
    assert topic_partition is not None
    joined = join_transaction(
        broker,
        ctx.client,
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        [topic_partition],
        verify_only=ctx.version < JOINS_SINCE,
    )
    refused = await joined if isinstance(joined, Awaitable) else joined
    if refused:
        return txn_commit_refused(
            request, WRITE_ERRORS.get(refused[topic_partition], refused[topic_partition])
        )
    reply = broker.groups.ask(request.group_id, request, ctx.version, ctx.client)
    committed: TxnOffsetCommitResponse = await reply if isinstance(reply, Awaitable) else reply
    return committed


API = ApiSpec.of(TxnOffsetCommitRequest, handle)
