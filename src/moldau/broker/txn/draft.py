"""The draft of one decision: what to write, answer, schedule and send. The state itself does not change."""

from collections.abc import Iterable

from moldau.broker.group.client import ClientFacts
from moldau.broker.txn.events import EndReason, Event, EventKind
from moldau.broker.txn.facts import EndStarted, EventNoted, TransactionConfirmed, TransactionSaved, TxnFact
from moldau.broker.txn.history import PARTITIONS_NAMED_MAX
from moldau.broker.txn.markers import TxnOutcome, WriteMarkers
from moldau.broker.txn.states import EPOCH_BUMP_VERSION, TxnState
from moldau.broker.txn.timers import TransactionTimer
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import NO_PRODUCER_ID, Millis, ProducerId, TopicPartition
from moldau.core.machine import Answer, CancelTimer, SetTimer
from moldau.protocol.spec import Response

FINAL_REFUSALS = frozenset(
    {ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_TXN_STATE}
)
"""Sent to zombies and late requests: a producer gives up on these errors and retries after the others."""

NO_PRODUCER_ID_AVAILABLE = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
"""What Kafka answers while it fetches a new block of producer ids: the client retries."""

OURSELVES = ClientFacts(client_id="", host="")


class Draft:
    def __init__(
        self,
        now_ms: Millis,
        *,
        coordinator_epoch: int,
        end_number: int,
        client: ClientFacts = OURSELVES,
        new_producer_id: ProducerId | None = None,
    ) -> None:
        """`end_number`: the last one used. `new_producer_id` is free to be used."""
        self.now_ms = now_ms
        self.new_producer_id = new_producer_id
        self._client = client
        self._coordinator_epoch = coordinator_epoch
        self._end_number = end_number
        self._facts: list[TxnFact] = []
        self._answers: list[Answer] = []
        self._timers: list[SetTimer | CancelTimer] = []
        self._markers: list[WriteMarkers] = []

    def record(self, fact: TxnFact) -> None:
        self._facts.append(fact)

    def answer(self, request_id: int, reply: Response) -> None:
        self._answers.append(Answer(request_id, reply))

    def time(self, timer: SetTimer | CancelTimer) -> None:
        self._timers.append(timer)

    def save(
        self,
        transaction: Transaction,
        kind: EventKind,
        detail: str = "",
        partitions: Iterable[TopicPartition] = (),
    ) -> None:
        self.record(TransactionSaved(transaction))
        self.note(transaction, kind, detail, partitions)

    def note(
        self,
        transaction: Transaction,
        kind: EventKind,
        detail: str = "",
        partitions: Iterable[TopicPartition] = (),
    ) -> None:
        told = sorted(partitions)
        event = Event(
            kind,
            self.now_ms,
            transaction.producer_id,
            transaction.producer_epoch,
            self._client.client_id,
            self._client.host,
            detail,
            partitions=tuple(told[:PARTITIONS_NAMED_MAX]),
            partitions_left_out=max(len(told) - PARTITIONS_NAMED_MAX, 0),
        )
        self.record(EventNoted(transaction.transactional_id, event))

    def note_refusal(
        self,
        transaction: Transaction | None,
        api: str,
        error: ErrorCode,
        producer_id: int,
        producer_epoch: int,
    ) -> None:
        if transaction is not None and error in FINAL_REFUSALS:
            self.confirm(transaction)
            event = Event(
                EventKind.REFUSED,
                self.now_ms,
                producer_id,
                producer_epoch,
                self._client.client_id,
                self._client.host,
                f"{api}: {error.name}",
            )
            self.record(EventNoted(transaction.transactional_id, event))

    def confirm(self, transaction: Transaction) -> None:
        """For an answer that changes nothing but that the client relies on: it is sent once this fact is
        committed.

        A deposed coordinator whose process was paused answers from outdated memory. Its writes are never
        committed, so the client asks again and finds the new coordinator.
        """
        self.record(TransactionConfirmed(transaction))

    def time_out(self, transaction: Transaction) -> None:
        if transaction.deadline_ms is not None:
            self.time(SetTimer(TransactionTimer(transaction.transactional_id), transaction.deadline_ms))

    def end(
        self,
        transaction: Transaction,
        reason: EndReason,
        *,
        commit: bool,
        client_version: int = EPOCH_BUMP_VERSION,
    ) -> Transaction | ErrorCode:
        """Decides the transaction and has its markers written. Returns the transaction as it will be after
        that.

        The coordinator itself always uses the newest version, whatever the client used: raising the epoch
        fences the producer. It does not wait for a producer id either: the very last epoch, which no client
        gets, is reserved for this.
        """
        next_producer_id = NO_PRODUCER_ID
        if transaction.epoch_exhausted and client_version >= EPOCH_BUMP_VERSION:
            if self.new_producer_id is not None:
                next_producer_id = self.new_producer_id
            elif reason is EndReason.CLIENT:
                return NO_PRODUCER_ID_AVAILABLE
        prepared = transaction.prepared(
            commit=commit,
            client_version=client_version,
            next_producer_id=next_producer_id,
            now_ms=self.now_ms,
        )
        decided = EventKind.COMMIT_DECIDED if commit else EventKind.ABORT_DECIDED
        timed_out = reason is EndReason.TIMEOUT
        detail = f"{reason} of {transaction.timeout_ms} ms" if timed_out else str(reason)
        self.save(prepared, decided, detail, prepared.partitions)
        if transaction.state is TxnState.ONGOING:
            self.time(CancelTimer(TransactionTimer(transaction.transactional_id)))
        self.resume_ending(prepared)
        return prepared.completed(self.now_ms)

    def resume_ending(self, prepared: Transaction) -> None:
        if not prepared.partitions:
            self.complete(prepared)
            return
        self._end_number += 1
        self.record(EndStarted(prepared.transactional_id, self._end_number))
        self._markers.append(
            WriteMarkers(
                prepared.transactional_id,
                self._end_number,
                prepared.producer_id,
                prepared.producer_epoch,
                committed=prepared.state is TxnState.PREPARE_COMMIT,
                partitions=tuple(sorted(prepared.partitions)),
                coordinator_epoch=self._coordinator_epoch,
                transaction_version=prepared.client_version,
            )
        )

    def complete(self, prepared: Transaction) -> None:
        complete = prepared.completed(self.now_ms)
        committed = complete.state is TxnState.COMPLETE_COMMIT
        self.save(complete, EventKind.COMMITTED if committed else EventKind.ABORTED)

    def outcome(self) -> TxnOutcome:
        return TxnOutcome(
            tuple(self._facts), tuple(self._answers), tuple(self._timers), markers=tuple(self._markers)
        )
