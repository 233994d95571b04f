"""A limit on what stays in memory or open: file descriptors and loaded indexes.

Second-chance eviction: a use only sets a flag, so the hot path pays one attribute store. When room is needed, the
oldest entry not used since the last check is evicted. Thread-safe, since workers create and delete logs.
"""

import threading
from typing import Protocol


class Resident(Protocol):
    recently_used: bool

    def evict(self) -> None:
        """Drops what was loaded; it can be loaded again."""


class Residency:
    __slots__ = ("_entries", "_held", "_turn", "capacity")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._held = 0
        self._entries: dict[Resident, int] = {}
        """The weight of each, oldest first."""
        self._turn = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def admit(self, resident: Resident, weight: int = 1) -> None:
        """Adds a newly loaded resident and evicts others beyond the capacity. The new one always fits."""
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
        """Removes a resident that is no longer needed."""
        with self._turn:
            self._forget(resident)

    def shrink(self) -> None:
        """Evicts half of the residents, to make room for another part of the process."""
        with self._turn:
            for oldest in list(self._entries)[: len(self._entries) // 2]:
                self._forget(oldest)
                oldest.evict()

    def _forget(self, resident: Resident) -> None:
        self._held -= self._entries.pop(resident, 0)
