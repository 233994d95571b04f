"""What the coordinator has found to be so: the only input of `replay`.

Durable facts are written to `__transaction_state` (`records` has their bytes) and come back at a reload. Volatile ones
are replayed and gone with the process: which markers are still missing, and what the history tells.
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
    """Written once more as it is: only a coordinator that still leads its partition gets that committed."""

    transaction: Transaction


@dataclass(frozen=True, slots=True)
class TransactionRemoved:
    transactional_id: str


@dataclass(frozen=True, slots=True)
class EndStarted:
    """Markers were asked for, for all partitions of the transaction."""

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
