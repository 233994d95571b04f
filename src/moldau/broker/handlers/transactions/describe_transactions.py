"""DescribeTransactions (65), v0: state, producer, timeout and partitions of transactional ids (KIP-664).

Topics that the client may not describe are left out.
"""

from collections.abc import Sequence
from dataclasses import replace

from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from moldau.protocol.messages.transactions.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    states: list[TransactionState] = []
    allowed = ctx.allowed(Operation.DESCRIBE, ResourceKind.TRANSACTIONAL_ID, request.transactional_ids)
    for transactional_id in request.transactional_ids:
        if transactional_id in allowed:
            states += await _describe(ctx, transactional_id)
        else:
            states.append(_refused(transactional_id, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
    seen = ctx.allowed(
        Operation.DESCRIBE, ResourceKind.TOPIC, (topic.topic for state in states for topic in state.topics)
    )
    return DescribeTransactionsResponse(
        transaction_states=[
            replace(state, topics=[topic for topic in state.topics if topic.topic in seen])
            for state in states
        ]
    )


API = ApiSpec.of(DescribeTransactionsRequest, handle)


async def _describe(ctx: RequestContext, transactional_id: str) -> Sequence[TransactionState]:
    one = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    try:
        shard = await ctx.broker.transactions.shards.ready(transactional_id)
        reply: DescribeTransactionsResponse = await shard.ask(
            lambda machine, request_id, _: machine.decide_describe(request_id, one)
        )
    except ApiError as error:
        return [_refused(transactional_id, coordinator_error(error))]
    return reply.transaction_states


def _refused(transactional_id: str, code: ErrorCode) -> TransactionState:
    return TransactionState(
        error_code=code,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        topics=[],
    )
