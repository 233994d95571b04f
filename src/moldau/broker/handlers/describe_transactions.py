"""DescribeTransactions (65), v0: state, producer, timeout and partitions of transactional ids (KIP-664)."""

from collections.abc import Sequence

from moldau.broker.api_table import ApiSpec
from moldau.broker.session import RequestContext
from moldau.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)


async def handle(ctx: RequestContext, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    states: list[TransactionState] = []
    for transactional_id in request.transactional_ids:
        states += await _describe(ctx, transactional_id)
    return DescribeTransactionsResponse(transaction_states=states)


API = ApiSpec.of(DescribeTransactionsRequest, handle)


async def _describe(ctx: RequestContext, transactional_id: str) -> Sequence[TransactionState]:
    shard = await ctx.broker.transactions.shards.ready(transactional_id)
    one = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    reply: DescribeTransactionsResponse = shard.ask(
        lambda machine, request_id, _: machine.decide_describe(request_id, one)
    )
    return reply.transaction_states
