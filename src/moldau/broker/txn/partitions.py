"""AddPartitionsToTxn and AddOffsetsToTxn: adds partitions to a transaction, or verifies that they are in
it."""

from collections.abc import Callable, Sequence, Set
from typing import Final

from moldau.broker.txn.draft import Draft
from moldau.broker.txn.events import EventKind
from moldau.broker.txn.records import partitions_by_topic
from moldau.broker.txn.settings import PARTITIONS_BYTES_MAX
from moldau.broker.txn.states import ENDING, EPOCH_BUMP_VERSION, TxnState
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.transactions.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

BATCHED_VERSION: Final = 4
"""From this version on brokers send it, for several transactions, on behalf of clients of transactions v2
(KIP-890)."""

PartitionErrors = dict[TopicPartition, ErrorCode]


def decide_add_partitions(
    draft: Draft,
    request_id: int,
    request: AddPartitionsToTxnRequest,
    version: int,
    get: Callable[[str], Transaction | None],
) -> None:
    extended: dict[str, Transaction] = {}
    results = []
    for asked in _transactions_asked(request, version):
        transactional_id = asked.transactional_id
        transaction = extended.get(transactional_id) or get(transactional_id)
        partitions = frozenset(
            TopicPartition(topic.name, index) for topic in asked.topics for index in topic.partitions
        )
        errors: PartitionErrors | ErrorCode | Transaction = _owner_error(asked, transaction)
        if errors is ErrorCode.NONE and transaction is not None:
            if asked.verify_only:
                errors = _verify(transaction, partitions)
            else:
                client_version = EPOCH_BUMP_VERSION if version >= BATCHED_VERSION else 0
                errors = _add(draft, transaction, partitions, client_version)
        if isinstance(errors, Transaction):
            extended[transactional_id] = errors
            errors = ErrorCode.NONE
        if isinstance(errors, ErrorCode):
            draft.note_refusal(
                transaction, "AddPartitionsToTxn", errors, asked.producer_id, asked.producer_epoch
            )
            errors = dict.fromkeys(partitions, fenced_by_name(errors, version))
        results.append(
            AddPartitionsToTxnResult(transactional_id=transactional_id, topic_results=_topic_results(errors))
        )
    if version >= BATCHED_VERSION:
        reply = AddPartitionsToTxnResponse(results_by_transaction=results)
    else:
        reply = AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)
    draft.answer(request_id, reply)


def decide_add_offsets(
    draft: Draft,
    request_id: int,
    request: AddOffsetsToTxnRequest,
    version: int,
    transaction: Transaction | None,
    offsets_partition: TopicPartition,
) -> None:
    result: ErrorCode | Transaction = _owner_error(request, transaction)
    if result is ErrorCode.NONE and transaction is not None:
        # Only clients before transactions v2 send this; for others the group coordinator adds its partition.
        result = _add(draft, transaction, {offsets_partition}, client_version=0)
    error = result if isinstance(result, ErrorCode) else ErrorCode.NONE
    draft.note_refusal(transaction, "AddOffsetsToTxn", error, request.producer_id, request.producer_epoch)
    draft.answer(request_id, AddOffsetsToTxnResponse(error_code=fenced_by_name(error, version)))


def owner_error(transaction: Transaction | None, producer_id: int, producer_epoch: int) -> ErrorCode:
    if transaction is None or transaction.producer_id != producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if transaction.producer_epoch != producer_epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.NONE


def fenced_by_name(error: ErrorCode, version: int) -> ErrorCode:
    """Clients before KIP-588 do not know PRODUCER_FENCED."""
    return ErrorCode.INVALID_PRODUCER_EPOCH if error is ErrorCode.PRODUCER_FENCED and version < 2 else error


def _owner_error(
    asked: AddPartitionsToTxnTransaction | AddOffsetsToTxnRequest, transaction: Transaction | None
) -> ErrorCode:
    if not asked.transactional_id:
        return ErrorCode.INVALID_REQUEST
    return owner_error(transaction, asked.producer_id, asked.producer_epoch)


def _transactions_asked(
    request: AddPartitionsToTxnRequest, version: int
) -> Sequence[AddPartitionsToTxnTransaction]:
    if version >= BATCHED_VERSION:
        return request.transactions
    return [
        AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
    ]


def _add(
    draft: Draft, transaction: Transaction, partitions: Set[TopicPartition], client_version: int
) -> ErrorCode | Transaction:
    """The transaction to be written, with the partitions added; NONE if it has them already."""
    if transaction.state in ENDING:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    ongoing = transaction.state is TxnState.ONGOING
    if ongoing and partitions <= transaction.partitions:
        draft.confirm(transaction)
        return ErrorCode.NONE
    extended = transaction.extended(partitions, client_version, draft.now_ms)
    if _bytes_in_record(extended.partitions) > PARTITIONS_BYTES_MAX:
        # As in Kafka when the record is too large for the log.
        return ErrorCode.UNKNOWN_SERVER_ERROR
    kind = EventKind.PARTITIONS_ADDED if ongoing else EventKind.BEGAN
    draft.save(extended, kind, partitions=partitions - transaction.partitions)
    if not ongoing:
        draft.time_out(extended)
    return extended


def _bytes_in_record(partitions: Set[TopicPartition]) -> int:
    topics = {partition.topic for partition in partitions}
    return 4 * len(partitions) + sum(10 + len(topic) for topic in topics)


def _verify(transaction: Transaction, partitions: Set[TopicPartition]) -> PartitionErrors | ErrorCode:
    """Whether a write belongs to the transaction; if not, its producer must abort."""
    if transaction.state in ENDING:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return {
        partition: ErrorCode.NONE if partition in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for partition in partitions
    }


def _topic_results(errors: PartitionErrors) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=partition, partition_error_code=errors[TopicPartition(topic, partition)]
                )
                for partition in partitions
            ],
        )
        for topic, partitions in partitions_by_topic(errors).items()
    ]
