"""InitProducerId (22), v0-5.

v2 flexible   v3 producer id and epoch to go on with (KIP-360)   v4 fenced error   v5 transactions v2

An idempotent producer gets a fresh id whatever it sends. Transactional ids come with the transaction coordinator.
"""

from collections.abc import Awaitable

from moldau.broker.api_table import ApiSpec
from moldau.broker.session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerId
from moldau.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def handle(
    ctx: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Awaitable[InitProducerIdResponse]:
    if request.transactional_id is not None:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE if request.transactional_id else ErrorCode.INVALID_REQUEST
        return InitProducerIdResponse(
            error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
        )
    producer_id = ctx.broker.producer_ids.take()
    return _claim(ctx) if producer_id is None else _granted(producer_id)


API = ApiSpec.of(InitProducerIdRequest, handle)


async def _claim(ctx: RequestContext) -> InitProducerIdResponse:
    return _granted(await ctx.broker.producer_ids.claim_and_take())


def _granted(producer_id: ProducerId) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=ErrorCode.NONE, producer_id=producer_id, producer_epoch=0)
