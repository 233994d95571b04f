"""The transactional ids of a fake cluster: the epoch of each, and its open transaction."""

from typing import TYPE_CHECKING

from moldau.testing.fakes.fake_log import FakeTransaction

if TYPE_CHECKING:
    from moldau.testing.fakes.fake_kafka import FakeKafka


class FakeTransactionalIds:
    def __init__(self, kafka: "FakeKafka") -> None:
        self._kafka = kafka
        self._epochs: dict[str, int] = {}
        self._open: dict[str, FakeTransaction] = {}

    def take(self, transactional_id: str) -> int:
        """Returns the epoch of the new owner. The previous owner is fenced and its open transaction aborted."""
        self._epochs[transactional_id] = self._epochs.get(transactional_id, -1) + 1
        left = self._open.pop(transactional_id, None)
        if left is not None:
            self._kafka.end_transaction(left, is_committed=False)
        return self._epochs[transactional_id]

    def is_fenced(self, transactional_id: str, epoch: int) -> bool:
        return self._epochs.get(transactional_id) != epoch

    def begin(self, transactional_id: str) -> FakeTransaction:
        self._open[transactional_id] = FakeTransaction()
        return self._open[transactional_id]

    def end(self, transactional_id: str, transaction: FakeTransaction, *, is_committed: bool) -> None:
        self._open.pop(transactional_id, None)
        self._kafka.end_transaction(transaction, is_committed=is_committed)
