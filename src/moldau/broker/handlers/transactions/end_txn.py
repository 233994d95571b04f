"""EndTxn (26), v0-5.

v2 producer fenced   v3 flexible   v4 abortable errors
v5 returns the epoch of the next transaction (KIP-890)
"""

from moldau.broker.coordinator.router import client_facts
from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest, EndTxnResponse
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: EndTxnRequest) -> EndTxnResponse:
    if not ctx.may(Operation.WRITE, ResourceKind.TRANSACTIONAL_ID, request.transactional_id):
        return EndTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    transactions = ctx.broker.transactions
    try:
        shard = await transactions.shards.ready(request.transactional_id)
        fresh = await transactions.fresh_producer_id(shard, request.transactional_id)
        client = client_facts(ctx.client)
        reply: EndTxnResponse = await shard.ask(
            lambda machine, request_id, now_ms: machine.decide_end_txn(
                request_id, request, ctx.version, client, now_ms, fresh
            )
        )
    except ApiError as error:
        return EndTxnResponse(error_code=coordinator_error(error))
    return reply


API = ApiSpec.of(EndTxnRequest, handle)
