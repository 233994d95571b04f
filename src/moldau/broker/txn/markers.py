"""The work of a decision outside the coordinator's log: the markers at the end of a transaction."""

from dataclasses import dataclass

from moldau.broker.txn.facts import TxnFact
from moldau.core.ids import ProducerEpoch, ProducerId, TopicPartition
from moldau.core.machine import Outcome


@dataclass(frozen=True, slots=True)
class WriteMarkers:
    """Asks the leaders of these partitions to write the end of a transaction into their logs.

    The sender retries until each partition has its marker or no longer exists, and reports with
    `decide_markers_written`. A marker in a partition of `__consumer_offsets` settles this producer's pending
    offsets.
    """

    transactional_id: str
    end_number: int
    """Distinguishes this end from others with the same producer epoch."""
    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    committed: bool
    partitions: tuple[TopicPartition, ...]
    coordinator_epoch: int
    transaction_version: int
    """From 2 on the leaders check the epoch more strictly (KIP-1228)."""


@dataclass(frozen=True, slots=True)
class TxnOutcome(Outcome[TxnFact]):
    """Markers are sent together with answers: once everything replayed so far is committed."""

    markers: tuple[WriteMarkers, ...] = ()
