"""The transactional ids of one partition of `__transaction_state`.

Owns which ids are there and which markers are missing; the rules are in the modules beside. The runner calls
`decide_*`, writes the durable facts, replays all of them in order, sets the timers, and once what was written is
committed gives the answers and sends the markers. A decision that writes nothing waits for the writes before it in the
same way. A request for several ids may be cut up by the ids' partitions beforehand, and the answers put together after.
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
    """Those without their marker."""


class TxnMachine:
    def __init__(self, settings: TxnSettings, coordinator_epoch: int) -> None:
        """The epoch is that of the partition's leader: markers of a deposed coordinator are known by it."""
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
        """Whether InitProducerId, EndTxn or the timer of this id can use a fresh one. Without, they may be put off."""
        transaction = self.get(transactional_id)
        return transaction is None or transaction.epoch_exhausted

    def replay(self, fact: TxnFact) -> None:
        match fact:
            case TransactionSaved(transaction):
                self._transactions[transaction.transactional_id] = transaction
                self._endings.pop(transaction.transactional_id, None)
            case TransactionConfirmed():
                pass  # It is as it was.
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
        """Of a transactional producer; the others do not concern a coordinator."""
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
        """That the partitions exist, and that the client may write to them, has been looked at before."""
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
        """`offsets_partition` is where the offsets of the group are kept."""
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
        """These of the partitions have their marker, or are no more. A report on what is over is passed by."""
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
        """All records are replayed: what the coordinator before left unfinished goes on."""
        draft = self._draft(now_ms)
        for transaction in self:
            draft.note(transaction, EventKind.LOADED, transaction.state.label, transaction.partitions)
            if transaction.state is TxnState.ONGOING:
                draft.time_out(transaction)
            elif transaction.state in ENDING:
                draft.go_on_ending(transaction)
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
        """`matches` holds the request's pattern against a whole id; who reads the request compiles it, or refuses."""
        return TxnOutcome(answers=(Answer(request_id, listed(self, request, now_ms, matches)),))

    def decide_markers_by_admin(
        self,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[TopicPartition],
        client: ClientFacts,
        now_ms: Millis,
    ) -> TxnOutcome:
        """Somebody ended a hanging transaction in its partitions, past the coordinator: the history should tell."""
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
