"""`leader-epoch-checkpoint`: the offset at which each leader epoch began (KIP-101).

Owns the list of (epoch, first offset) of one log, ascending in both. Flushes and close write the file. After a crash
the epochs of unflushed batches are read from the batches themselves.
"""

from bisect import bisect_left, bisect_right
from typing import Final

from moldau.core.ids import NO_LEADER_EPOCH, LeaderEpoch
from moldau.storage.checkpoints import CheckpointError, checkpoint_lines, checkpoint_text

UNDEFINED: Final = (-1, -1)


class LeaderEpochs:
    __slots__ = ("_entries", "is_saved", "latest")

    def __init__(self) -> None:
        self._entries: tuple[tuple[int, int], ...] = ()
        self.latest = NO_LEADER_EPOCH
        self.is_saved = True

    @classmethod
    def parse(cls, data: bytes) -> "LeaderEpochs":
        entries: list[tuple[int, int]] = []
        for line in checkpoint_lines(data, "leader-epoch-checkpoint"):
            try:
                epoch, start_offset = map(int, line.split())
            except ValueError:
                raise CheckpointError(f"malformed line {line!r} in leader-epoch-checkpoint") from None
            entries.append((epoch, start_offset))
        epochs = cls()
        for epoch, start_offset in entries:
            epochs.assign(epoch, start_offset)
        epochs.is_saved = True
        return epochs

    def text(self) -> bytes:
        return checkpoint_text(f"{epoch} {start}" for epoch, start in self._entries)

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        return self._entries

    def assign(self, epoch: int, start_offset: int) -> None:
        """A batch of `epoch` starts at `start_offset`. Removes entries that contradict it."""
        if self._entries:
            last_epoch, last_start = self._entries[-1]
            if epoch == last_epoch and start_offset >= last_start:
                return
        kept = tuple(entry for entry in self._entries if entry[0] < epoch and entry[1] < start_offset)
        self._replace((*kept, (epoch, start_offset)))

    def truncate_from_end(self, end_offset: int) -> None:
        kept = tuple(entry for entry in self._entries if entry[1] < end_offset)
        self._replace(kept)

    def truncate_from_start(self, start_offset: int) -> None:
        """The epoch that covers `start_offset` now begins there; removes older ones."""
        older = [entry for entry in self._entries if entry[1] <= start_offset]
        if older:
            self._replace(((older[-1][0], start_offset), *self._entries[len(older) :]))

    def clear(self) -> None:
        self._replace(())

    def _replace(self, entries: tuple[tuple[int, int], ...]) -> None:
        if entries != self._entries:
            self._entries = entries
            self.latest = LeaderEpoch(entries[-1][0]) if entries else NO_LEADER_EPOCH
            self.is_saved = False

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest epoch not above `epoch`; `UNDEFINED` when it is unknown."""
        if epoch < 0:
            return UNDEFINED
        if epoch == self.latest:
            return epoch, log_end_offset
        above = bisect_right(self._entries, epoch, key=lambda entry: entry[0])
        if above == len(self._entries):
            return UNDEFINED
        end_offset = self._entries[above][1]
        return (self._entries[above - 1][0] if above else epoch), end_offset

    def divergence(self, offset: int, last_epoch: int, log_end_offset: int) -> tuple[int, int] | None:
        """Where the log of a reader that ends at `offset` with a batch of `last_epoch` diverges from this one, as
        (epoch, end offset) (KIP-595). None when it does not diverge."""
        if last_epoch >= 0:
            epoch, end_offset = self.end_offset_for(last_epoch, log_end_offset)
            if end_offset >= 0 and (epoch < last_epoch or end_offset < offset):
                return epoch, end_offset
        return (self.latest, log_end_offset) if offset > log_end_offset else None

    def epoch_of(self, offset: int) -> int:
        """The epoch in which an offset was written; -1 when it is older than the known epochs."""
        at = bisect_left(self._entries, offset + 1, key=lambda entry: entry[1])
        return self._entries[at - 1][0] if at else -1
