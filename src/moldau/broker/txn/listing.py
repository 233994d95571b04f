"""DescribeTransactions and ListTransactions: the state of transactional ids. Reads only."""

from collections.abc import Callable, Iterable

from moldau.broker.txn.records import partitions_by_topic
from moldau.broker.txn.states import TxnState
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import Millis, TopicPartition
from moldau.protocol.messages.transactions.describe_transactions import TopicData
from moldau.protocol.messages.transactions.describe_transactions import TransactionState as Described
from moldau.protocol.messages.transactions.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from moldau.protocol.messages.transactions.list_transactions import TransactionState as Listed

_STATES = {state.label: state for state in TxnState}


def described(transaction: Transaction, partitions: Iterable[TopicPartition]) -> Described:
    """Names the partitions that are still in the transaction: those with their marker are not."""
    return Described(
        transactional_id=transaction.transactional_id,
        transaction_state=transaction.state.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[
            TopicData(topic=topic, partitions=partition_ids)
            for topic, partition_ids in partitions_by_topic(partitions).items()
        ],
    )


def not_described(transactional_id: str) -> Described:
    """All fields except the error are zero, as in Kafka."""
    return Described(
        error_code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=0,
        producer_epoch=0,
        topics=[],
    )


def listed(
    transactions: Iterable[Transaction],
    request: ListTransactionsRequest,
    now_ms: Millis,
    matches: Callable[[str], bool] | None,
) -> ListTransactionsResponse:
    states = {_STATES[label] for label in request.state_filters if label in _STATES}
    producer_ids = set(request.producer_id_filters)

    def is_asked_for(transaction: Transaction) -> bool:
        if producer_ids and transaction.producer_id not in producer_ids:
            return False
        if request.state_filters and transaction.state not in states:
            return False
        # As in Kafka, an id that never had a transaction matches: its start time counts as the beginning of
        # time.
        if request.duration_filter >= 0 and now_ms - transaction.start_ms <= request.duration_filter:
            return False
        return matches is None or matches(transaction.transactional_id)

    return ListTransactionsResponse(
        unknown_state_filters=[label for label in request.state_filters if label not in _STATES],
        transaction_states=[
            Listed(
                transactional_id=transaction.transactional_id,
                producer_id=transaction.producer_id,
                transaction_state=transaction.state.label,
            )
            for transaction in transactions
            if is_asked_for(transaction)
        ],
    )
