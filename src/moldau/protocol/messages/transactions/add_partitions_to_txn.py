"""AddPartitionsToTxn: adds partitions to a transaction.

v1 the response is sent before throttling. v2 PRODUCER_FENCED possible. v3 flexible. v4 for brokers: several
transactions at once, verification only (KIP-890). v5 TRANSACTION_ABORTABLE possible (KIP-890). Clients stop
at v3.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@structure
class AddPartitionsToTxnTopic:
    name: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class AddPartitionsToTxnTransaction:
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    verify_only: bool = bool8(default=False)
    topics: Sequence[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic)


@request(24, versions="0-5", flexible="3+")
@structure
class AddPartitionsToTxnRequest(Request):
    transactions: Sequence[AddPartitionsToTxnTransaction] = array(
        AddPartitionsToTxnTransaction, versions="4+", default=()
    )
    v3_and_below_transactional_id: str = string(versions="0-3", default="")
    v3_and_below_producer_id: int = int64(versions="0-3", default=0)
    v3_and_below_producer_epoch: int = int16(versions="0-3", default=0)
    v3_and_below_topics: Sequence[AddPartitionsToTxnTopic] = array(
        AddPartitionsToTxnTopic, versions="0-3", default=()
    )


@structure
class AddPartitionsToTxnPartitionResult:
    partition_index: int = int32()
    partition_error_code: int = int16()


@structure
class AddPartitionsToTxnTopicResult:
    name: str = string()
    results_by_partition: Sequence[AddPartitionsToTxnPartitionResult] = array(
        AddPartitionsToTxnPartitionResult
    )


@structure
class AddPartitionsToTxnResult:
    transactional_id: str = string()
    topic_results: Sequence[AddPartitionsToTxnTopicResult] = array(AddPartitionsToTxnTopicResult)


@response(AddPartitionsToTxnRequest)
@structure
class AddPartitionsToTxnResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(versions="4+", default=0, ignorable=True)
    results_by_transaction: Sequence[AddPartitionsToTxnResult] = array(
        AddPartitionsToTxnResult, versions="4+", default=()
    )
    results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, versions="0-3", default=()
    )
