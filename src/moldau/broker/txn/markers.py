"""The work a decision leaves for the outside: the markers at the end of a transaction."""

from dataclasses import dataclass

from moldau.broker.txn.facts import TxnFact
from moldau.core.ids import ProducerEpoch, ProducerId, TopicPartition
from moldau.core.machine import Outcome


@dataclass(frozen=True, slots=True)
class WriteMarkers:
    """Has the leaders of these partitions write the end of a transaction into their logs.

    Whoever does it goes on until each partition has its marker or exists no more, and reports with
    `decide_markers_written`. A marker in a partition of `__consumer_offsets` settles the offsets that wait there
    for this producer.
    """

    transactional_id: str
    end_number: int
    """Tells this end from those of other transactions with the same producer epoch."""
    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    committed: bool
    partitions: tuple[TopicPartition, ...]
    coordinator_epoch: int
    transaction_version: int
    """The leaders check the epoch more strictly from 2 on (KIP-1228)."""


@dataclass(frozen=True, slots=True)
class TxnOutcome(Outcome[TxnFact]):
    """Markers are sent when answers are: once all that was replayed so far is committed."""

    markers: tuple[WriteMarkers, ...] = ()
