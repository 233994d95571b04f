"""ListTransactions: the transactional ids that a broker coordinates (KIP-664).

v1 filter by duration (KIP-994). v2 filter by a pattern on the id (KIP-1152).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@request(66, versions="0-2", flexible="0+")
@structure
class ListTransactionsRequest(Request):
    state_filters: Sequence[str] = array("string")
    producer_id_filters: Sequence[int] = array("int64")
    duration_filter: int = int64(versions="1+", default=-1)
    transactional_id_pattern: str | None = string(versions="2+", nullable="2+", default=None)


@structure
class TransactionState:
    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


@response(ListTransactionsRequest)
@structure
class ListTransactionsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    unknown_state_filters: Sequence[str] = array("string")
    transaction_states: Sequence[TransactionState] = array(TransactionState)
