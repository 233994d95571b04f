"""A transactional id as a value, and the values that may follow. Decides nothing: callers check what is
allowed.
"""

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any

from moldau.broker.txn.states import (
    CLIENT_EPOCH_MAX,
    COMPLETED,
    EPOCH_BUMP_VERSION,
    EPOCH_MAX,
    PREVIOUS,
    TxnState,
)
from moldau.core.ids import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    Millis,
    ProducerEpoch,
    ProducerId,
    TopicPartition,
)
from moldau.core.settings.key import INT_MAX


@dataclass(frozen=True, slots=True)
class Transaction:
    transactional_id: str
    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    timeout_ms: int
    last_update_ms: Millis
    state: TxnState = TxnState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: Millis = NO_TIMESTAMP
    previous_producer_id: ProducerId = NO_PRODUCER_ID
    """The id before the last change, if that assigned a new one: its owner may not have received it yet."""
    next_producer_id: ProducerId = NO_PRODUCER_ID
    """The id to continue with once the markers are written, because the epochs of this one are used up."""
    client_version: int = 0
    """The transaction version the client used last."""
    last_producer_epoch: ProducerEpoch = NO_PRODUCER_EPOCH
    """The epoch before, if its owner may repeat the request that raised it (KIP-360). Not in the log, as in
    Kafka: after a reload such a retry is fenced."""

    @classmethod
    def fresh(cls, transactional_id: str, producer_id: ProducerId, now_ms: Millis) -> "Transaction":
        """A new transactional id. Its first epoch is one higher."""
        return cls(transactional_id, producer_id, NO_PRODUCER_EPOCH, timeout_ms=0, last_update_ms=now_ms)

    @property
    def epoch_exhausted(self) -> bool:
        return self.producer_epoch >= CLIENT_EPOCH_MAX

    @property
    def deadline_ms(self) -> Millis | None:
        """None: it has no timeout, like those that Kafka leaves to an external coordinator (KIP-939)."""
        return None if self.timeout_ms == INT_MAX else Millis(self.start_ms + self.timeout_ms)

    def initialized(
        self, timeout_ms: int, now_ms: Millis, *, epoch: int, last_epoch: ProducerEpoch = NO_PRODUCER_EPOCH
    ) -> "Transaction":
        return self._moved(
            TxnState.EMPTY,
            now_ms,
            producer_epoch=ProducerEpoch(epoch),
            last_producer_epoch=last_epoch,
            timeout_ms=timeout_ms,
            partitions=frozenset(),
            start_ms=NO_TIMESTAMP,
        )

    def rotated(
        self,
        producer_id: ProducerId,
        timeout_ms: int,
        now_ms: Millis,
        *,
        last_epoch: ProducerEpoch = NO_PRODUCER_EPOCH,
    ) -> "Transaction":
        """Assigns a new producer id, because the epochs of the old one are used up."""
        initialized = self.initialized(timeout_ms, now_ms, epoch=0, last_epoch=last_epoch)
        return replace(initialized, producer_id=producer_id, previous_producer_id=self.producer_id)

    def extended(self, partitions: Set[TopicPartition], client_version: int, now_ms: Millis) -> "Transaction":
        return self._moved(
            TxnState.ONGOING,
            now_ms,
            partitions=self.partitions | partitions,
            start_ms=self.start_ms if self.state is TxnState.ONGOING else now_ms,
            client_version=client_version,
        )

    def prepared(
        self, *, commit: bool, client_version: int, next_producer_id: ProducerId, now_ms: Millis
    ) -> "Transaction":
        bumps = client_version >= EPOCH_BUMP_VERSION
        epoch = min(self.producer_epoch + 1, EPOCH_MAX) if bumps else self.producer_epoch
        return self._moved(
            TxnState.PREPARE_COMMIT if commit else TxnState.PREPARE_ABORT,
            now_ms,
            producer_epoch=ProducerEpoch(epoch),
            last_producer_epoch=self.producer_epoch if bumps else self.last_producer_epoch,
            start_ms=self.start_ms if self.state is TxnState.ONGOING else now_ms,
            next_producer_id=next_producer_id,
            client_version=client_version,
        )

    def completed(self, now_ms: Millis) -> "Transaction":
        complete = self._moved(
            COMPLETED[self.state], now_ms, partitions=frozenset(), next_producer_id=NO_PRODUCER_ID
        )
        if self.next_producer_id == NO_PRODUCER_ID:
            return complete
        return replace(
            complete,
            producer_id=self.next_producer_id,
            previous_producer_id=self.producer_id,
            producer_epoch=ProducerEpoch(0),
        )

    def _moved(self, state: TxnState, now_ms: Millis, **changes: Any) -> "Transaction":
        assert self.state in PREVIOUS[state], f"{self.transactional_id}: {self.state.label} to {state.label}"
        return replace(
            self, state=state, last_update_ms=now_ms, previous_producer_id=NO_PRODUCER_ID, **changes
        )
