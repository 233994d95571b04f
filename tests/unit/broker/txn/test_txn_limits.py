"""What keeps the coordinator's memory and writes small, odd timers, and requests for several transactions."""

from moldau.broker.group.client import ClientFacts
from moldau.broker.txn.events import Event, EventKind
from moldau.broker.txn.facts import TransactionRemoved, TransactionSaved, is_durable
from moldau.broker.txn.history import EVENTS_MAX, IDS_MAX, PARTITIONS_NAMED_MAX, History
from moldau.broker.txn.machine import TxnMachine
from moldau.broker.txn.markers import TxnOutcome
from moldau.broker.txn.records import to_record
from moldau.broker.txn.settings import EXPIRATIONS_PER_CHECK_MAX, TxnSettings
from moldau.broker.txn.states import TxnState
from moldau.broker.txn.timers import ExpirationTimer, TransactionTimer
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import Millis, ProducerEpoch, ProducerId, TopicPartition
from moldau.core.machine import SetTimer
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

CLIENT = ClientFacts("app", "/10.0.0.1")
NOW = Millis(1000)


def machine(*transactional_ids: str) -> TxnMachine:
    transactions = TxnMachine(TxnSettings(), coordinator_epoch=0)
    for index, transactional_id in enumerate(transactional_ids):
        transactions.replay(
            TransactionSaved(
                Transaction(
                    transactional_id,
                    ProducerId(index),
                    ProducerEpoch(0),
                    timeout_ms=60_000,
                    last_update_ms=Millis(0),
                )
            )
        )
    return transactions


def asked(transactional_id: str, producer_id: int, *topics: str) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=transactional_id,
        producer_id=producer_id,
        producer_epoch=0,
        topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0]) for topic in topics],
    )


def add(transactions: TxnMachine, *transactions_asked: AddPartitionsToTxnTransaction) -> TxnOutcome:
    request = AddPartitionsToTxnRequest(transactions=transactions_asked)
    outcome = transactions.decide_add_partitions(1, request, 5, CLIENT, NOW)
    for fact in outcome.facts:
        transactions.replay(fact)
    return outcome


def errors(outcome: TxnOutcome) -> dict[str, set[int]]:
    reply = outcome.answers[0].reply
    assert isinstance(reply, AddPartitionsToTxnResponse)
    return {
        result.transactional_id: {
            partition.partition_error_code
            for topic in result.topic_results
            for partition in topic.results_by_partition
        }
        for result in reply.results_by_transaction
    }


def test_one_request_for_several_transactions_fails_only_where_it_must() -> None:
    transactions = machine("one", "two")
    outcome = add(transactions, asked("one", 0, "a"), asked("nobody", 7, "a"), asked("two", 7, "a"))
    wrong = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert errors(outcome) == {"one": {ErrorCode.NONE}, "nobody": {wrong}, "two": {wrong}}
    one = transactions.get("one")
    assert one is not None
    assert one.state is TxnState.ONGOING


def test_a_transaction_named_twice_in_one_request_gets_all_its_partitions() -> None:
    transactions = machine("one")
    add(transactions, asked("one", 0, "a"), asked("one", 0, "b"))
    one = transactions.get("one")
    assert one is not None
    assert one.partitions == {TopicPartition("a", 0), TopicPartition("b", 0)}


def test_a_transaction_does_not_outgrow_its_record() -> None:
    transactions = machine("one")
    names = [f"{index:0>249}" for index in range(4000)]
    assert errors(add(transactions, asked("one", 0, *names[:3400]))) == {"one": {ErrorCode.NONE}}
    one = transactions.get("one")
    assert one is not None
    key, value = to_record(TransactionSaved(one))
    assert len(key) + len(value or b"") < 1 << 20

    outcome = add(transactions, asked("one", 0, *names[3400:]))
    assert errors(outcome) == {"one": {ErrorCode.UNKNOWN_SERVER_ERROR}}
    assert not [fact for fact in outcome.facts if is_durable(fact)]


def test_a_timer_that_fires_early_is_set_again() -> None:
    transactions = machine("one")
    add(transactions, asked("one", 0, "a"))
    key = TransactionTimer("one")
    early = transactions.decide_timer(key, Millis(NOW + 59_999))
    assert early == TxnOutcome(timers=(SetTimer(key, Millis(NOW + 60_000)),))


def test_a_timer_of_what_is_over_does_nothing() -> None:
    transactions = machine("one")
    assert transactions.decide_timer(TransactionTimer("one"), NOW) == TxnOutcome()
    assert transactions.decide_timer(TransactionTimer("two"), NOW) == TxnOutcome()


def test_many_expired_ids_go_in_several_writes() -> None:
    transactions = machine(*(f"tx-{index}" for index in range(EXPIRATIONS_PER_CHECK_MAX + 1)))
    now = Millis(transactions.settings.transactional_id_expiration_ms)
    outcome = transactions.decide_timer(ExpirationTimer(), now)
    assert sum(isinstance(fact, TransactionRemoved) for fact in outcome.facts) == EXPIRATIONS_PER_CHECK_MAX
    assert outcome.timers == (SetTimer(ExpirationTimer(), Millis(now + 1000)),)
    for fact in outcome.facts:
        transactions.replay(fact)
    assert len(list(transactions)) == 1
    last = transactions.decide_timer(ExpirationTimer(), now)
    assert sum(isinstance(fact, TransactionRemoved) for fact in last.facts) == 1
    interval_ms = transactions.settings.expiration_check_interval_ms
    assert last.timers == (SetTimer(ExpirationTimer(), Millis(now + interval_ms)),)


def event(kind: EventKind = EventKind.INITIALIZED, epoch: int = 0, *partitions: TopicPartition) -> Event:
    return Event(kind, NOW, producer_id=1, producer_epoch=epoch, partitions=partitions)


def test_history_of_an_id_is_bounded_and_keeps_the_newest() -> None:
    history = History()
    for epoch in range(EVENTS_MAX + 5):
        history.add("tx", event(epoch=epoch))
    assert [each.producer_epoch for each in history.events("tx")] == list(range(5, EVENTS_MAX + 5))


def test_history_forgets_the_id_that_was_quiet_for_longest() -> None:
    history = History()
    for index in range(IDS_MAX):
        history.add(f"tx-{index}", event())
    history.add("tx-0", event(epoch=1))
    history.add("new", event())
    assert not history.events("tx-1")
    assert len(history.events("tx-0")) == 2
    assert history.events("new")


def test_partitions_that_come_one_by_one_are_one_event_and_not_all_told() -> None:
    history = History()
    history.add("tx", event(EventKind.BEGAN, 0, TopicPartition("a", 0)))
    for index in range(1, PARTITIONS_NAMED_MAX + 3):
        history.add("tx", event(EventKind.PARTITIONS_ADDED, 0, TopicPartition("a", index)))
    (began,) = history.events("tx")
    assert len(began.partitions) == PARTITIONS_NAMED_MAX
    assert began.partitions_left_out == 3


def test_refusals_alike_are_one_event() -> None:
    history = History()
    for _ in range(3):
        history.add("tx", event(EventKind.REFUSED))
    history.add("tx", event(EventKind.REFUSED, epoch=1))
    assert [each.times for each in history.events("tx")] == [3, 1]
