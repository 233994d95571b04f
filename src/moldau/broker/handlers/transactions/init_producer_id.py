"""InitProducerId (22), v0-5.

v2 flexible   v3 current producer id and epoch (KIP-360)   v4 fenced error   v5 transactions v2

An idempotent producer gets a new id whatever it sends. A transactional request goes to the coordinator.
"""

from collections.abc import Awaitable

from moldau.broker.coordinator.router import client_facts
from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerId
from moldau.protocol.messages.transactions.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.security.access.model import Operation, ResourceKind


def handle(
    ctx: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Awaitable[InitProducerIdResponse]:
    if (code := _forbidden(ctx, request.transactional_id)) is not None:
        return _refused(code)
    if request.transactional_id == "":
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _initialize(ctx, request, request.transactional_id)
    producer_id = ctx.broker.producer_ids.take()
    return _claim(ctx) if producer_id is None else _granted(producer_id)


API = ApiSpec.of(InitProducerIdRequest, handle)


def _forbidden(ctx: RequestContext, transactional_id: str | None) -> ErrorCode | None:
    """Who may write to any topic may do so with an idempotent producer."""
    if transactional_id is not None:
        is_allowed = ctx.may(Operation.WRITE, ResourceKind.TRANSACTIONAL_ID, transactional_id)
        return None if is_allowed else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if ctx.may_with_cluster(Operation.IDEMPOTENT_WRITE, is_logged=False):
        return None
    is_allowed = ctx.may_with_some(Operation.WRITE, ResourceKind.TOPIC)
    return None if is_allowed else ErrorCode.CLUSTER_AUTHORIZATION_FAILED


async def _initialize(
    ctx: RequestContext, request: InitProducerIdRequest, transactional_id: str
) -> InitProducerIdResponse:
    transactions = ctx.broker.transactions
    try:
        shard = await transactions.shards.ready(transactional_id)
        fresh = await transactions.fresh_producer_id(shard, transactional_id)
        client = client_facts(ctx.client)
        reply: InitProducerIdResponse = await shard.ask(
            lambda machine, request_id, now_ms: machine.decide_init_producer_id(
                request_id, request, ctx.version, client, now_ms, fresh
            )
        )
    except ApiError as error:
        return _refused(coordinator_error(error))
    return reply


async def _claim(ctx: RequestContext) -> InitProducerIdResponse:
    try:
        return _granted(await ctx.broker.producer_ids.claim_and_take())
    except ApiError as error:
        return _refused(error.code)


def _granted(producer_id: ProducerId) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=ErrorCode.NONE, producer_id=producer_id, producer_epoch=0)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )
