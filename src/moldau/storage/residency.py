"""A bound on what stays in memory or open: file descriptors and loaded indexes.

Second chance: a use only sets a flag, so the hot path pays one attribute store; when room is needed the
oldest entry not used since its last look goes. Belongs to the owner's thread.
"""

from collections import deque
from typing import Protocol


class Resident(Protocol):
    recently_used: bool

    def evict(self) -> None:
        """Forget what was loaded; it can be loaded again."""


class Residency:
    __slots__ = ("_entries", "_held", "capacity")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._held = 0
        self._entries: deque[tuple[Resident, int]] = deque()

    def admit(self, resident: Resident, weight: int = 1) -> None:
        """Counts a newly loaded resident, evicting others past the capacity. The newcomer itself always
        fits."""
        while self._held + weight > self.capacity and self._entries:
            oldest, held = self._entries.popleft()
            if oldest.recently_used:
                oldest.recently_used = False
                self._entries.append((oldest, held))
            else:
                self._held -= held
                oldest.evict()
        resident.recently_used = True
        self._entries.append((resident, weight))
        self._held += weight

    def shrink(self) -> None:
        """Lets go of half of them: someone else needs the room."""
        for _ in range(len(self._entries) // 2):
            oldest, held = self._entries.popleft()
            self._held -= held
            oldest.evict()
