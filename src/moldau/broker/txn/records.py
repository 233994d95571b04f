"""Encodes durable facts as records of `__transaction_state`, byte for byte as Kafka does."""

from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from moldau.broker.txn.facts import (
    DurableFact,
    TransactionConfirmed,
    TransactionRemoved,
    TransactionSaved,
)
from moldau.broker.txn.states import TxnState
from moldau.broker.txn.transaction import Transaction
from moldau.core.errors import PeerError
from moldau.core.ids import Millis, ProducerEpoch, ProducerId, TopicPartition
from moldau.core.ports import Buffer
from moldau.protocol.stored.framing import (
    decode_key,
    decode_versioned,
    encode_key,
    encode_versioned,
    record_type,
)
from moldau.protocol.stored.transactions import PartitionsSchema, TransactionLogKey, TransactionLogValue

VALUE_VERSION: Final = 1
"""The version that Kafka writes from `transaction.version` 1 on."""

WRITTEN: Final = {
    int(state): state for state in TxnState if state not in (TxnState.DEAD, TxnState.PREPARE_EPOCH_FENCE)
}


def to_record(fact: DurableFact) -> tuple[bytes, bytes | None]:
    """Key and value; None as value is a tombstone."""
    match fact:
        case TransactionSaved(transaction) | TransactionConfirmed(transaction):
            key = encode_key(TransactionLogKey(transactional_id=transaction.transactional_id))
            return key, encode_versioned(_value(transaction), VALUE_VERSION)
        case TransactionRemoved(transactional_id):
            return encode_key(TransactionLogKey(transactional_id=transactional_id)), None
        case _:
            assert_never(fact)


def from_record(key: Buffer, value: Buffer | None) -> DurableFact | None:
    """None for unknown record types, which are skipped."""
    if record_type(key) != TransactionLogKey.RECORD_TYPE:
        return None
    transactional_id = decode_key(TransactionLogKey, key).transactional_id
    if value is None:
        return TransactionRemoved(transactional_id)
    return TransactionSaved(_transaction(transactional_id, decode_versioned(TransactionLogValue, value)))


def partitions_by_topic(partitions: Iterable[TopicPartition]) -> Mapping[str, list[int]]:
    """Sorted, whatever the order of the set."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return topics


def _value(transaction: Transaction) -> TransactionLogValue:
    assert transaction.state in WRITTEN
    topics = [
        PartitionsSchema(topic=topic, partition_ids=partition_ids)
        for topic, partition_ids in partitions_by_topic(transaction.partitions).items()
    ]
    return TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=None if transaction.state is TxnState.EMPTY else topics,
        transaction_last_update_timestamp_ms=transaction.last_update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
        client_transaction_version=transaction.client_version,
    )


def _transaction(transactional_id: str, value: TransactionLogValue) -> Transaction:
    state = WRITTEN.get(value.transaction_status)
    if state is None:
        status = value.transaction_status
        raise PeerError(f"the record of transactional id {transactional_id!r} has no known state: {status}")
    return Transaction(
        transactional_id,
        ProducerId(value.producer_id),
        ProducerEpoch(value.producer_epoch),
        timeout_ms=value.transaction_timeout_ms,
        last_update_ms=Millis(value.transaction_last_update_timestamp_ms),
        state=state,
        partitions=frozenset(
            TopicPartition(topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        start_ms=Millis(value.transaction_start_timestamp_ms),
        previous_producer_id=ProducerId(value.previous_producer_id),
        next_producer_id=ProducerId(value.next_producer_id),
        client_version=value.client_transaction_version,
    )
