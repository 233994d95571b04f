"""A bound on what stays in memory or open: file descriptors and loaded indexes.

Second chance: a use only sets a flag, so the hot path pays one attribute store; when room is needed the
oldest entry not used since its last look goes. Logs are made and deleted by workers, so any thread may come.
"""

import threading
from typing import Protocol


class Resident(Protocol):
    recently_used: bool

    def evict(self) -> None:
        """Forget what was loaded; it can be loaded again."""


class Residency:
    __slots__ = ("_entries", "_held", "_turn", "capacity")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._held = 0
        self._entries: dict[Resident, int] = {}
        """What each weighs, oldest first."""
        self._turn = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def admit(self, resident: Resident, weight: int = 1) -> None:
        """Counts a newly loaded resident, evicting others past the capacity. The newcomer itself always
        fits."""
        with self._turn:
            self._forget(resident)
            while self._held + weight > self.capacity and self._entries:
                oldest = next(iter(self._entries))
                if oldest.recently_used:
                    oldest.recently_used = False
                    self._entries[oldest] = self._entries.pop(oldest)
                else:
                    self._forget(oldest)
                    oldest.evict()
            resident.recently_used = True
            self._entries[resident] = weight
            self._held += weight

    def dismiss(self, resident: Resident) -> None:
        """It is of no use to anybody any more: nothing here keeps it."""
        with self._turn:
            self._forget(resident)

    def shrink(self) -> None:
        """Lets go of half of them: someone else needs the room."""
        with self._turn:
            for oldest in list(self._entries)[: len(self._entries) // 2]:
                self._forget(oldest)
                oldest.evict()

    def _forget(self, resident: Resident) -> None:
        self._held -= self._entries.pop(resident, 0)
