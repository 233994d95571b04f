"""The coordinator of the transactional ids in one partition of `__transaction_state`.

Owns the transactional ids and the missing markers; the rules are in the other modules of this package. The
runner calls `decide_*`, writes the durable facts, replays all facts in order, and sets the timers. Once the
writes are committed it sends answers and markers. A decision that writes nothing waits for earlier writes in
the same way. A request for several ids may be split by partition beforehand, and the answers merged.
"""

from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, replace

from moldau.broker.group.client import ClientFacts
from moldau.broker.txn.draft import OURSELVES, Draft
from moldau.broker.txn.ending import decide_end_txn
from moldau.broker.txn.events import EventKind
from moldau.broker.txn.facts import (
    EndStarted,
    EventNoted,
    MarkersWritten,
    TransactionConfirmed,
    TransactionRemoved,
    TransactionSaved,
    TxnFact,
)
from moldau.broker.txn.history import History
from moldau.broker.txn.initialization import decide_init_producer_id
from moldau.broker.txn.listing import described, listed, not_described
from moldau.broker.txn.markers import TxnOutcome, WriteMarkers
from moldau.broker.txn.partitions import decide_add_offsets, decide_add_partitions
from moldau.broker.txn.settings import TxnSettings
from moldau.broker.txn.states import ENDING, TxnState
from moldau.broker.txn.timers import ExpirationTimer, TransactionTimer
from moldau.broker.txn.transaction import Transaction
from moldau.broker.txn.upkeep import decide_expiration_timer, decide_transaction_timer, time_expiration
from moldau.core.ids import Millis, ProducerEpoch, ProducerId, TopicPartition
from moldau.core.machine import Answer
from moldau.protocol.messages.transactions.add_offsets_to_txn import AddOffsetsToTxnRequest
from moldau.protocol.messages.transactions.add_partitions_to_txn import AddPartitionsToTxnRequest
from moldau.protocol.messages.transactions.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest
from moldau.protocol.messages.transactions.list_transactions import ListTransactionsRequest


@dataclass(frozen=True, slots=True)
class _Ending:
    end_number: int
    partitions: frozenset[TopicPartition]
    """The partitions without a marker."""


class TxnMachine:
    def __init__(self, settings: TxnSettings, coordinator_epoch: int) -> None:
        """`coordinator_epoch`: the leader epoch of the partition. It identifies markers of a deposed
        coordinator."""
        self.settings = settings
        self.history = History()
        self._coordinator_epoch = coordinator_epoch
        self._transactions: dict[str, Transaction] = {}
        self._endings: dict[str, _Ending] = {}
        self._end_number = 0

    def get(self, transactional_id: str) -> Transaction | None:
        return self._transactions.get(transactional_id)

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self._transactions.values())

    def wants_producer_id(self, transactional_id: str) -> bool:
        """Whether InitProducerId, EndTxn or the timer of this id may need a new producer id. Without one they
        may have to be postponed."""
        transaction = self.get(transactional_id)
        return transaction is None or transaction.epoch_exhausted

    def replay(self, fact: TxnFact) -> None:
        match fact:
            case TransactionSaved(transaction):
                self._transactions[transaction.transactional_id] = transaction
                self._endings.pop(transaction.transactional_id, None)
            case TransactionConfirmed():
                pass  # Unchanged.
            case TransactionRemoved(transactional_id):
                self._transactions.pop(transactional_id, None)
                self._endings.pop(transactional_id, None)
            case EndStarted(transactional_id, end_number):
                self._end_number = end_number
                partitions = self._transactions[transactional_id].partitions
                self._endings[transactional_id] = _Ending(end_number, partitions)
            case MarkersWritten(transactional_id, partitions):
                ending = self._endings[transactional_id]
                self._endings[transactional_id] = replace(ending, partitions=ending.partitions - partitions)
            case EventNoted(transactional_id, event):
                self.history.add(transactional_id, event)

    def decide_init_producer_id(
        self,
        request_id: int,
        request: InitProducerIdRequest,
        version: int,
        client: ClientFacts,
        now_ms: Millis,
        new_producer_id: ProducerId | None = None,
    ) -> TxnOutcome:
        """For a transactional producer; other producers do not need a coordinator."""
        draft = self._draft(now_ms, client, new_producer_id)
        transaction = self.get(request.transactional_id or "")
        timeout_max_ms = self.settings.transaction_timeout_max_ms
        decide_init_producer_id(draft, request_id, request, version, transaction, timeout_max_ms)
        return draft.outcome()

    def decide_add_partitions(
        self,
        request_id: int,
        request: AddPartitionsToTxnRequest,
        version: int,
        client: ClientFacts,
        now_ms: Millis,
    ) -> TxnOutcome:
        """The caller has checked that the partitions exist and that the client may write to them."""
        draft = self._draft(now_ms, client)
        decide_add_partitions(draft, request_id, request, version, self.get)
        return draft.outcome()

    def decide_add_offsets(
        self,
        request_id: int,
        request: AddOffsetsToTxnRequest,
        version: int,
        client: ClientFacts,
        now_ms: Millis,
        offsets_partition: TopicPartition,
    ) -> TxnOutcome:
        """`offsets_partition`: the partition that holds the offsets of the group."""
        draft = self._draft(now_ms, client)
        transaction = self.get(request.transactional_id)
        decide_add_offsets(draft, request_id, request, version, transaction, offsets_partition)
        return draft.outcome()

    def decide_end_txn(
        self,
        request_id: int,
        request: EndTxnRequest,
        version: int,
        client: ClientFacts,
        now_ms: Millis,
        new_producer_id: ProducerId | None = None,
    ) -> TxnOutcome:
        draft = self._draft(now_ms, client, new_producer_id)
        decide_end_txn(draft, request_id, request, version, self.get(request.transactional_id))
        return draft.outcome()

    def decide_markers_written(
        self, markers: WriteMarkers, partitions: Collection[TopicPartition], now_ms: Millis
    ) -> TxnOutcome:
        """These partitions have their marker or no longer exist. A report about a finished transaction is
        ignored."""
        draft = self._draft(now_ms)
        ending = self._endings.get(markers.transactional_id)
        if ending is not None and ending.end_number == markers.end_number:
            if ending.partitions <= set(partitions):
                draft.complete(self._transactions[markers.transactional_id])
            else:
                draft.record(MarkersWritten(markers.transactional_id, frozenset(partitions)))
        return draft.outcome()

    def decide_timer(
        self, key: Hashable, now_ms: Millis, new_producer_id: ProducerId | None = None
    ) -> TxnOutcome:
        draft = self._draft(now_ms, new_producer_id=new_producer_id)
        match key:
            case TransactionTimer(transactional_id):
                decide_transaction_timer(draft, self.get(transactional_id))
            case ExpirationTimer():
                decide_expiration_timer(draft, self, self.settings)
        return draft.outcome()

    def decide_loaded(self, now_ms: Millis) -> TxnOutcome:
        """Call after the log is replayed. Resumes what the previous coordinator left unfinished."""
        draft = self._draft(now_ms)
        for transaction in self:
            draft.note(transaction, EventKind.LOADED, transaction.state.label, transaction.partitions)
            if transaction.state is TxnState.ONGOING:
                draft.time_out(transaction)
            elif transaction.state in ENDING:
                draft.resume_ending(transaction)
        time_expiration(draft, self.settings.expiration_check_interval_ms)
        return draft.outcome()

    def decide_describe(self, request_id: int, request: DescribeTransactionsRequest) -> TxnOutcome:
        states = []
        for transactional_id in request.transactional_ids:
            transaction = self.get(transactional_id)
            if transaction is None:
                states.append(not_described(transactional_id))
            else:
                ending = self._endings.get(transactional_id)
                states.append(described(transaction, (ending or transaction).partitions))
        return TxnOutcome(
            answers=(Answer(request_id, DescribeTransactionsResponse(transaction_states=states)),)
        )

    def decide_list(
        self,
        request_id: int,
        request: ListTransactionsRequest,
        now_ms: Millis,
        matches: Callable[[str], bool] | None = None,
    ) -> TxnOutcome:
        """`matches` tests the request's pattern against a whole id. The caller compiles or rejects the
        pattern."""
        return TxnOutcome(answers=(Answer(request_id, listed(self, request, now_ms, matches)),))

    def decide_markers_by_admin(
        self,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[TopicPartition],
        client: ClientFacts,
        now_ms: Millis,
    ) -> TxnOutcome:
        """An administrator ended a hanging transaction in its partitions, without the coordinator: noted in
        the history."""
        draft = self._draft(now_ms, client)
        for transaction in self:
            if transaction.producer_id == producer_id:
                ended = replace(transaction, producer_epoch=ProducerEpoch(producer_epoch))
                draft.note(ended, EventKind.MARKERS_BY_ADMIN, partitions=partitions)
        return draft.outcome()

    def _draft(
        self, now_ms: Millis, client: ClientFacts = OURSELVES, new_producer_id: ProducerId | None = None
    ) -> Draft:
        return Draft(
            now_ms,
            coordinator_epoch=self._coordinator_epoch,
            end_number=self._end_number,
            client=client,
            new_producer_id=new_producer_id,
        )
