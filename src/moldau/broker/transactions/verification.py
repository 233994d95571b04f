"""Transactional writes that wait before they are appended: for the coordinator's answer, or to be
decompressed.

The coordinator's answer that a transaction is open is outdated once a marker has ended that transaction: a
write appended then would open a transaction that nobody ends. So a waiting write checks whether a marker came
first (the verification guard of KIP-890).
"""


class Verifying:
    """The waiting writes of one partition, by producer id."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[int, set[WaitingWrite]] = {}

    def begin(self, producer_id: int) -> "WaitingWrite":
        """The caller must call `end`, also after an error."""
        write = WaitingWrite(self, producer_id)
        self._waiting.setdefault(producer_id, set()).add(write)
        return write

    def end(self, write: "WaitingWrite") -> bool:
        waiting = self._waiting.get(write.producer_id, set())
        if write not in waiting:
            return False
        waiting.discard(write)
        if not waiting:
            del self._waiting[write.producer_id]
        return True

    def transaction_ended(self, producer_id: int) -> None:
        """A marker ended the producer's transaction in this partition."""
        self._waiting.pop(producer_id, None)

    def led_elsewhere(self) -> None:
        """Another broker may end transactions now."""
        self._waiting.clear()


class WaitingWrite:
    __slots__ = ("_verifying", "producer_id")

    def __init__(self, verifying: Verifying, producer_id: int) -> None:
        self._verifying = verifying
        self.producer_id = producer_id

    def end(self) -> bool:
        """Whether no marker ended the producer's transaction during the wait."""
        return self._verifying.end(self)
