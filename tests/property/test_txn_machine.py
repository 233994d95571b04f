"""Producers of both protocols, zombies among them, delayed requests, timers and crashes against one coordinator.

After every step: the log rebuilds the state, epochs never go back, a transaction has one outcome, its markers go to its
partitions and to no others, and what a producer was told about the end of its transaction is true.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from moldau.broker.group.client import ClientFacts
from moldau.broker.txn.facts import TransactionSaved
from moldau.broker.txn.markers import TxnOutcome, WriteMarkers
from moldau.broker.txn.records import to_record
from moldau.broker.txn.settings import TxnSettings
from moldau.broker.txn.states import CLIENT_EPOCH_MAX, ENDING, TxnState
from moldau.broker.txn.timers import TransactionTimer
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import NO_PRODUCER_EPOCH, Millis, ProducerEpoch, ProducerId, TopicPartition
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest, EndTxnResponse
from moldau.protocol.messages.transactions.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from property.examples import machine_settings
from scenarios.txn.txn_runner import TxnRunner, loaded

CLIENT = ClientFacts("app", "/10.0.0.1")
IDS = ("tx", "rx")
TIMEOUT_MS = 1000
SETTINGS = TxnSettings(transactional_id_expiration_ms=20_000, expiration_check_interval_ms=5_000)
EPOCHS_LEFT = 2
"""Of the producer id `rx` starts with, so that it is used up within a run."""


@dataclass
class Producer:
    transactional_id: str
    is_v2: bool
    producer_id: int = -1
    epoch: int = -1
    added: set[TopicPartition] = field(default_factory=set)
    """Of its transaction, as it was told."""


@dataclass
class Decided:
    """The last transaction of an id whose end was decided."""

    producer_id: int
    epoch: int
    committed: bool
    partitions: frozenset[TopicPartition]
    marked: set[TopicPartition] = field(default_factory=set)


producers = st.integers(0, 4)
partitions = st.sets(
    st.builds(TopicPartition, st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=3
)


class Transactions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = TxnRunner(SETTINGS, self.see)
        self.known: dict[str, Transaction] = {}
        self.decided: dict[str, Decided] = {}
        self.newest: dict[str, tuple[int, int]] = {}
        self.sent_ends: list[tuple[EndTxnRequest, int]] = []
        self.producers = [Producer(IDS[index % 2], is_v2=index < 4) for index in range(5)]
        tired = Transaction(
            "rx",
            ProducerId(1),
            ProducerEpoch(CLIENT_EPOCH_MAX - EPOCHS_LEFT),
            timeout_ms=TIMEOUT_MS,
            last_update_ms=Millis(0),
            state=TxnState.COMPLETE_ABORT,
            start_ms=Millis(0),
        )
        self.runner.log.append(to_record(TransactionSaved(tired)))
        self.runner.crash()
        self.known["rx"] = tired

    def see(self, outcome: TxnOutcome) -> None:
        for fact in outcome.facts:
            if isinstance(fact, TransactionSaved):
                self.see_saved(fact.transaction)
        for markers in outcome.markers:
            decided = self.decided[markers.transactional_id]
            assert markers.committed == decided.committed
            assert set(markers.partitions) == decided.partitions
            assert markers.producer_id == decided.producer_id
            assert markers.producer_epoch in (decided.epoch, decided.epoch + 1)
            assert markers.coordinator_epoch == self.runner.coordinator_epoch

    def see_saved(self, transaction: Transaction) -> None:
        before = self.known.get(transaction.transactional_id)
        identity = (transaction.producer_id, transaction.producer_epoch)
        assert identity >= self.newest.get(transaction.transactional_id, identity), "an epoch went back"
        self.newest[transaction.transactional_id] = identity
        if transaction.state in ENDING:
            assert before is not None
            assert before.state not in ENDING, "decided twice"
            self.decided[transaction.transactional_id] = Decided(
                before.producer_id,
                before.producer_epoch,
                transaction.state is TxnState.PREPARE_COMMIT,
                transaction.partitions,
            )
        elif transaction.state in (TxnState.COMPLETE_COMMIT, TxnState.COMPLETE_ABORT):
            decided = self.decided[transaction.transactional_id]
            assert decided.committed == (transaction.state is TxnState.COMPLETE_COMMIT)
            assert decided.marked == decided.partitions, "complete without all markers"
        self.known[transaction.transactional_id] = transaction

    @rule(index=producers, again=st.booleans())
    def initialize(self, index: int, again: bool) -> None:
        producer = self.producers[index]
        has_identity = again and producer.producer_id != -1
        request = InitProducerIdRequest(
            transactional_id=producer.transactional_id,
            transaction_timeout_ms=TIMEOUT_MS,
            producer_id=producer.producer_id if has_identity else -1,
            producer_epoch=producer.epoch if has_identity else -1,
        )
        before = self.known.get(producer.transactional_id)
        newest = self.newest.get(producer.transactional_id, (-1, -1))
        reply = self.runner.ask(request, 5 if producer.is_v2 else 4, CLIENT)
        assert isinstance(reply, InitProducerIdResponse)
        if reply.error_code == ErrorCode.NONE:
            assert reply.producer_epoch <= CLIENT_EPOCH_MAX
            producer.producer_id, producer.epoch = reply.producer_id, reply.producer_epoch
            producer.added = set()
            assert has_identity or (producer.producer_id, producer.epoch) > newest, "nobody was fenced"
        elif has_identity and (producer.producer_id, producer.epoch) < newest:
            assert self.known.get(producer.transactional_id) == before, "a zombie changed something"

    @rule(index=producers, adding=partitions)
    def add(self, index: int, adding: set[TopicPartition]) -> None:
        producer = self.producers[index]
        if producer.producer_id == -1:
            self.initialize(index, again=False)
        topics = [AddPartitionsToTxnTopic(name=topic, partitions=[number]) for topic, number in adding]
        if producer.is_v2:
            asked = AddPartitionsToTxnTransaction(
                transactional_id=producer.transactional_id,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                topics=topics,
            )
            request = AddPartitionsToTxnRequest(transactions=[asked])
        else:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=producer.transactional_id,
                v3_and_below_producer_id=producer.producer_id,
                v3_and_below_producer_epoch=producer.epoch,
                v3_and_below_topics=topics,
            )
        reply = self.runner.ask(request, 5 if producer.is_v2 else 3, CLIENT)
        assert isinstance(reply, AddPartitionsToTxnResponse)
        if add_errors(reply) == {ErrorCode.NONE}:
            producer.added |= adding

    @rule(index=producers, commit=st.booleans(), lost=st.booleans())
    def end(self, index: int, commit: bool, lost: bool) -> None:
        producer = self.producers[index]
        request = EndTxnRequest(
            transactional_id=producer.transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=commit,
        )
        version = 5 if producer.is_v2 else 4
        self.sent_ends.append((request, version))
        reply = self.ask_to_end(request, version)
        if reply.error_code != ErrorCode.NONE or lost:
            return
        decided = self.decided[producer.transactional_id]
        if commit and producer.is_v2:
            assert decided.partitions == producer.added, "committed something else than its producer wrote"
        if producer.is_v2:
            assert reply.producer_epoch <= CLIENT_EPOCH_MAX
            producer.producer_id, producer.epoch = reply.producer_id, reply.producer_epoch
        producer.added = set()

    @rule(index=producers, adding=partitions, commit=st.booleans())
    def go_through_a_transaction(self, index: int, adding: set[TopicPartition], commit: bool) -> None:
        self.add(index, adding)
        self.end(index, commit, lost=False)
        for markers, missing in list(self.runner.markers):
            self.write(markers, missing)

    @precondition(lambda self: self.sent_ends)
    @rule(data=st.data())
    def an_end_arrives_late(self, data: st.DataObject) -> None:
        request, version = data.draw(st.sampled_from(self.sent_ends))
        before = self.known.get(request.transactional_id)
        self.ask_to_end(request, version)
        current = before is not None and (request.producer_id, request.producer_epoch) == (
            before.producer_id,
            before.producer_epoch,
        )
        if not current:
            assert self.known.get(request.transactional_id) == before, "a delayed EndTxn changed something"

    def ask_to_end(self, request: EndTxnRequest, version: int) -> EndTxnResponse:
        reply = self.runner.ask(request, version, CLIENT)
        assert isinstance(reply, EndTxnResponse)
        if reply.error_code == ErrorCode.NONE:
            decided = self.decided[request.transactional_id]
            assert decided.committed == request.committed, "acknowledged what was not decided"
            assert (decided.producer_id, decided.epoch) == (request.producer_id, request.producer_epoch)
        return reply

    @precondition(lambda self: self.runner.markers)
    @rule(data=st.data())
    def markers_are_written(self, data: st.DataObject) -> None:
        markers, missing = data.draw(st.sampled_from(self.runner.markers))
        some = st.sets(st.sampled_from(sorted(missing)), min_size=1)
        written = data.draw(st.one_of(st.just(set(missing)), some))
        self.write(markers, written)

    def write(self, markers: WriteMarkers, written: set[TopicPartition]) -> None:
        self.decided[markers.transactional_id].marked |= written
        self.runner.write_markers(markers, set(written))

    @rule(span_ms=st.sampled_from([1, 1, 500, 1000, 30_000]))
    def time_passes(self, span_ms: int) -> None:
        self.runner.advance(span_ms)
        self.known = {
            transactional_id: transaction
            for transactional_id, transaction in self.known.items()
            if self.runner.transactions.get(transactional_id) is not None
        }

    @rule(what=st.sampled_from(["crash", "crash", "clock jumps back", "no producer ids"]))
    def something_goes_wrong(self, what: str) -> None:
        if what == "crash":
            # Markers may have been written without anybody having heard of it, and are asked for once more.
            self.runner.crash()
        elif what == "clock jumps back":
            self.runner.now_ms = Millis(self.runner.now_ms - 10_000)
        else:
            self.runner.has_producer_ids = not self.runner.has_producer_ids

    @invariant()
    def log_rebuilds_the_state(self) -> None:
        rebuilt = loaded(SETTINGS, self.runner.coordinator_epoch, self.runner.log)
        assert durable(rebuilt) == durable(self.runner.transactions)

    @invariant()
    def markers_of_every_decided_transaction_are_on_their_way(self) -> None:
        ending = {each.transactional_id for each in self.runner.transactions if each.state in ENDING}
        assert {markers.transactional_id for markers, _ in self.runner.markers} == ending

    @invariant()
    def every_open_transaction_and_no_other_has_a_timer(self) -> None:
        timed = {key.transactional_id for key in self.runner.timers if isinstance(key, TransactionTimer)}
        ongoing = {
            each.transactional_id for each in self.runner.transactions if each.state is TxnState.ONGOING
        }
        assert timed == ongoing

    def teardown(self) -> None:
        """Left alone, everything comes to an end."""
        timers = [key for key in self.runner.timers if isinstance(key, TransactionTimer)]
        while any(timer in self.runner.timers for timer in timers):
            self.runner.fire_next_timer()
        for markers, missing in list(self.runner.markers):
            self.write(markers, missing)
        unfinished = [each for each in self.runner.transactions if each.state in ENDING | {TxnState.ONGOING}]
        assert not unfinished


def add_errors(reply: AddPartitionsToTxnResponse) -> set[int]:
    topics = list(reply.results_by_topic_v3_and_below)
    topics += [topic for result in reply.results_by_transaction for topic in result.topic_results]
    return {each.partition_error_code for topic in topics for each in topic.results_by_partition}


def durable(transactions: Iterable[Transaction]) -> dict[str, Transaction]:
    return {
        each.transactional_id: replace(each, last_producer_epoch=NO_PRODUCER_EPOCH) for each in transactions
    }


Transactions.TestCase.settings = machine_settings(examples=120, steps=50)
TestTransactions = Transactions.TestCase
