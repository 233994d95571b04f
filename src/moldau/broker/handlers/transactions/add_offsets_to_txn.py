"""AddOffsetsToTxn (25), v0-4.

v2 producer fenced   v3 flexible   v4 abortable errors (KIP-890)
"""

from moldau.broker.coordinator.router import client_facts
from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.transactions.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse:
    if not ctx.may(Operation.WRITE, ResourceKind.TRANSACTIONAL_ID, request.transactional_id):
        return AddOffsetsToTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if not ctx.may(Operation.READ, ResourceKind.GROUP, request.group_id):
        return AddOffsetsToTxnResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    group_shards = ctx.broker.groups.shards
    try:
        await group_shards.ensure()
        shard = await ctx.broker.transactions.shards.ready(request.transactional_id)
        topic_partition = group_shards.partition_of(request.group_id)
        assert topic_partition is not None
        client = client_facts(ctx.client)
        reply: AddOffsetsToTxnResponse = await shard.ask(
            lambda machine, request_id, now_ms: machine.decide_add_offsets(
                request_id, request, ctx.version, client, now_ms, topic_partition
            )
        )
    except ApiError as error:
        return AddOffsetsToTxnResponse(error_code=coordinator_error(error))
    return reply


API = ApiSpec.of(AddOffsetsToTxnRequest, handle)
