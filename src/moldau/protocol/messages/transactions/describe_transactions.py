"""DescribeTransactions: the state of transactional ids (KIP-664)."""

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


@request(65, versions="0", flexible="0+")
@structure
class DescribeTransactionsRequest(Request):
    transactional_ids: Sequence[str] = array("string")


@structure
class TopicData:
    topic: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class TransactionState:
    error_code: int = int16(default=0)
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = int32()
    transaction_start_time_ms: int = int64()
    producer_id: int = int64()
    producer_epoch: int = int16()
    topics: Sequence[TopicData] = array(TopicData)


@response(DescribeTransactionsRequest)
@structure
class DescribeTransactionsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    transaction_states: Sequence[TransactionState] = array(TransactionState)
