"""AddOffsetsToTxn: adds a group's offsets to a transaction.

v1 the response is sent before throttling. v2 PRODUCER_FENCED possible. v3 flexible. v4 TRANSACTION_ABORTABLE
possible (KIP-890).
"""

from moldau.protocol.spec import Request, Response, int16, int32, int64, request, response, string, structure


@request(25, versions="0-4", flexible="3+")
@structure
class AddOffsetsToTxnRequest(Request):
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    group_id: str = string()


@response(AddOffsetsToTxnRequest)
@structure
class AddOffsetsToTxnResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
