"""InitProducerId: id and epoch for an idempotent or transactional producer.

v1 the response is sent before throttling. v2 flexible. v3 a producer can keep its id (KIP-360). v4
PRODUCER_FENCED possible. v5 TRANSACTION_ABORTABLE possible (KIP-890).
"""

from moldau.protocol.spec import Request, Response, int16, int32, int64, request, response, string, structure


@request(22, versions="0-5", flexible="2+")
@structure
class InitProducerIdRequest(Request):
    transactional_id: str | None = string(nullable="0+")
    transaction_timeout_ms: int = int32()
    producer_id: int = int64(versions="3+", default=-1)
    producer_epoch: int = int16(versions="3+", default=-1)


@response(InitProducerIdRequest)
@structure
class InitProducerIdResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16()
