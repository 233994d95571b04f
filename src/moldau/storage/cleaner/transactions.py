"""Follows transactions through a log that is being cleaned.

Records of an aborted transaction can be removed at once. Its marker stays while any batch of the transaction is left
before it, because readers need the marker to tell aborted from unfinished.
"""

import heapq
from collections.abc import Iterable

from moldau.core.ports import Buffer
from moldau.protocol.records.batch import BatchHeader
from moldau.protocol.records.control import ControlType, read_end_transaction_marker
from moldau.storage.segments.txn_index import AbortedTxn


class _Ongoing:
    __slots__ = ("aborted", "has_batches")

    def __init__(self, aborted: AbortedTxn) -> None:
        self.aborted = aborted
        self.has_batches = False


class CleanedTransactions:
    __slots__ = ("_ahead", "_ongoing_aborted", "_ongoing_committed", "retained")

    def __init__(self, aborted: Iterable[AbortedTxn]) -> None:
        self._ahead = [(each.first_offset, each) for each in aborted]
        heapq.heapify(self._ahead)
        self._ongoing_aborted: dict[int, _Ongoing] = {}
        self._ongoing_committed: set[int] = set()
        self.retained: list[AbortedTxn] = []
        """Aborted transactions whose marker was just kept. The new transaction index must list them."""

    def is_aborted(self, header: BatchHeader) -> bool:
        """Call for every data batch, in order. Returns whether its records can be removed."""
        self._meet(header.last_offset)
        if not header.is_transactional:
            return False
        ongoing = self._ongoing_aborted.get(header.producer_id)
        if ongoing is None:
            self._ongoing_committed.add(header.producer_id)
            return False
        ongoing.has_batches = True
        return True

    def can_drop_marker(self, header: BatchHeader, batch: Buffer) -> bool:
        """Call for every control batch, in order. Returns whether no batch of its transaction is left before it."""
        self._meet(header.last_offset)
        if not header.record_count:
            return True
        marker = read_end_transaction_marker(batch)
        if marker is None:
            return False
        if marker.control_type is ControlType.COMMIT:
            if header.producer_id not in self._ongoing_committed:
                return True
            self._ongoing_committed.remove(header.producer_id)
            return False
        ongoing = self._ongoing_aborted.pop(header.producer_id, None)
        if ongoing is None or not ongoing.has_batches:
            return True
        self.retained.append(ongoing.aborted)
        return False

    def take_retained(self) -> list[AbortedTxn]:
        retained, self.retained = self.retained, []
        return retained

    def _meet(self, offset: int) -> None:
        while self._ahead and self._ahead[0][0] <= offset:
            _, aborted = heapq.heappop(self._ahead)
            self._ongoing_aborted.setdefault(aborted.producer_id, _Ongoing(aborted))
