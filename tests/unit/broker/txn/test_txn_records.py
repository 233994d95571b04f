"""Records of `__transaction_state`, held against bytes that Apache Kafka 4.2 wrote."""

from dataclasses import replace

import pytest

from moldau.broker.txn.facts import TransactionRemoved, TransactionSaved
from moldau.broker.txn.records import from_record, to_record
from moldau.broker.txn.states import TxnState
from moldau.broker.txn.transaction import Transaction
from moldau.core.errors import PeerError
from moldau.core.ids import NO_PRODUCER_ID, Millis, ProducerEpoch, ProducerId, TopicPartition

KEY = bytes.fromhex("0000000a6f72646572732d617070")
EMPTY_V0 = bytes.fromhex("0000000000000000126700000000ea6000ffffffff0000018bcfe569f4ffffffffffffffff")
PREPARE_ABORT_V0 = bytes.fromhex(
    "0000000000000000126700030000ea60030000000200125f5f636f6e73756d65725f6f66667365747300000001000000070006"
    "6f72646572730000000200000000000000020000018bcfe569f40000018bcfe56800"
)
EMPTY_V1 = bytes.fromhex("0001000000000000126700000000ea6000000000018bcfe569f4ffffffffffffffff00")
ONGOING_V1 = bytes.fromhex(
    "0001000000000000126700030000ea600103135f5f636f6e73756d65725f6f666673657473020000000700076f726465727303"
    "0000000000000002000000018bcfe569f40000018bcfe568000102020002"
)
ROTATING_V1 = bytes.fromhex(
    "000100000000000012677fff0000ea600202076f7264657273030000000000000002000000018bcfe569f40000018bcfe56800"
    "03000800000000000012670108000000000000126802020002"
)

EMPTY = Transaction(
    "orders-app",
    ProducerId(4711),
    ProducerEpoch(0),
    timeout_ms=60_000,
    last_update_ms=Millis(1_700_000_000_500),
)
ONGOING = replace(
    EMPTY,
    producer_epoch=ProducerEpoch(3),
    state=TxnState.ONGOING,
    start_ms=Millis(1_700_000_000_000),
    partitions=frozenset(
        {TopicPartition("orders", 0), TopicPartition("orders", 2), TopicPartition("__consumer_offsets", 7)}
    ),
    client_version=2,
)
PREPARE_ABORT = replace(ONGOING, state=TxnState.PREPARE_ABORT, client_version=0)
ROTATING = replace(
    ONGOING,
    producer_epoch=ProducerEpoch(32_767),
    state=TxnState.PREPARE_COMMIT,
    partitions=frozenset({TopicPartition("orders", 0), TopicPartition("orders", 2)}),
    previous_producer_id=ProducerId(4711),
    next_producer_id=ProducerId(4712),
)


@pytest.mark.parametrize(
    ("transaction", "value"), [(EMPTY, EMPTY_V1), (ONGOING, ONGOING_V1), (ROTATING, ROTATING_V1)]
)
def test_written_as_kafka_writes_it(transaction: Transaction, value: bytes) -> None:
    assert to_record(TransactionSaved(transaction)) == (KEY, value)
    assert from_record(KEY, value) == TransactionSaved(transaction)


@pytest.mark.parametrize(("transaction", "value"), [(EMPTY, EMPTY_V0), (PREPARE_ABORT, PREPARE_ABORT_V0)])
def test_older_layout_is_read(transaction: Transaction, value: bytes) -> None:
    assert from_record(KEY, value) == TransactionSaved(transaction)


def test_forgotten_id_is_a_tombstone() -> None:
    assert to_record(TransactionRemoved("orders-app")) == (KEY, None)
    assert from_record(KEY, None) == TransactionRemoved("orders-app")


def test_other_record_types_are_skipped() -> None:
    assert from_record(b"\0\7anything", b"anything") is None


@pytest.mark.parametrize("status", [6, 7, 8, -1])
def test_states_that_nobody_writes_are_refused(status: int) -> None:
    value = bytearray(EMPTY_V1)
    value[16:17] = status.to_bytes(1, "big", signed=True)
    with pytest.raises(PeerError, match=f"orders-app.*has no known state: {status}"):
        from_record(KEY, value)


def test_epoch_before_is_not_in_the_log() -> None:
    key, value = to_record(TransactionSaved(replace(EMPTY, last_producer_epoch=ProducerEpoch(7))))
    assert from_record(key, value) == TransactionSaved(EMPTY)


def test_producer_id_before_is_kept_only_right_after_it_changed() -> None:
    complete = replace(ROTATING, previous_producer_id=NO_PRODUCER_ID).completed(Millis(5))
    assert (complete.previous_producer_id, complete.producer_id, complete.producer_epoch) == (4711, 4712, 0)
    ongoing = complete.extended({TopicPartition("orders", 0)}, 2, Millis(6))
    assert ongoing.previous_producer_id == NO_PRODUCER_ID
