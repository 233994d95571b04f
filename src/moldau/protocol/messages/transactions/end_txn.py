"""EndTxn: commits or aborts a transaction.

v1 the response is sent before throttling. v2 PRODUCER_FENCED possible. v3 flexible. v4 TRANSACTION_ABORTABLE
possible (KIP-890). v5 every end raises the epoch, which the response contains (KIP-890).
"""

from moldau.protocol.spec import (
    Request,
    Response,
    bool8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@request(26, versions="0-5", flexible="3+")
@structure
class EndTxnRequest(Request):
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    committed: bool = bool8()
    """False aborts."""


@response(EndTxnRequest)
@structure
class EndTxnResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id: int = int64(versions="5+", default=-1, ignorable=True)
    producer_epoch: int = int16(versions="5+", default=-1, ignorable=True)
