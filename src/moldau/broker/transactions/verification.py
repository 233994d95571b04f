"""Writes of transactions that wait before they are appended: for the coordinator's word, or for being unpacked.

The word that a transaction is open is old once a marker has ended it: a write appended then would open a transaction
nobody ends (KIP-890, where this is a verification guard). So whoever waits learns whether a marker came first.
"""


class Verifying:
    """Of one partition, by producer id."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[int, set[WaitingWrite]] = {}

    def begin(self, producer_id: int) -> "WaitingWrite":
        """To be ended, whatever comes of it."""
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
        """By a marker in the partition."""
        self._waiting.pop(producer_id, None)

    def led_elsewhere(self) -> None:
        """Somebody else may end transactions now."""
        self._waiting.clear()


class WaitingWrite:
    __slots__ = ("_verifying", "producer_id")

    def __init__(self, verifying: Verifying, producer_id: int) -> None:
        self._verifying = verifying
        self.producer_id = producer_id

    def end(self) -> bool:
        """Whether the producer's transaction is as it was when the wait began."""
        return self._verifying.end(self)
