"""The facts of the transaction coordinator: the only input of `replay`.

Durable facts are written to `__transaction_state` (`records` encodes them) and replayed at a reload. Volatile
ones are replayed once and lost with the process: missing markers, and entries of the history.
"""

from dataclasses import dataclass
from typing import TypeGuard

from moldau.broker.txn.events import Event
from moldau.broker.txn.transaction import Transaction
from moldau.core.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class TransactionSaved:
    transaction: Transaction


@dataclass(frozen=True, slots=True)
class TransactionConfirmed:
    """Written once more unchanged: only a coordinator that still leads its partition gets this committed."""

    transaction: Transaction


@dataclass(frozen=True, slots=True)
class TransactionRemoved:
    transactional_id: str


@dataclass(frozen=True, slots=True)
class EndStarted:
    """Markers were requested for all partitions of the transaction."""

    transactional_id: str
    end_number: int


@dataclass(frozen=True, slots=True)
class MarkersWritten:
    transactional_id: str
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class EventNoted:
    transactional_id: str
    event: Event


DurableFact = TransactionSaved | TransactionConfirmed | TransactionRemoved
TxnFact = DurableFact | EndStarted | MarkersWritten | EventNoted


def is_durable(fact: TxnFact) -> TypeGuard[DurableFact]:
    return isinstance(fact, DurableFact)
