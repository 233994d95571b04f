"""Produce requests with `acks=all` that wait until their records are committed. Pure."""

import heapq
from itertools import count
from typing import Generic, TypeVar

Token = TypeVar("Token")


class PendingAcks(Generic[Token]):
    """Ordered by the offset each request waits for. Cancelled ones are skipped when their turn comes."""

    __slots__ = ("_cancelled", "_heap", "_order")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Token]] = []
        self._order = count()
        self._cancelled: set[int] = set()

    def __len__(self) -> int:
        return len(self._heap) - len(self._cancelled)

    def add(self, end_offset: int, token: Token) -> int:
        """Returns the handle for `cancel`."""
        handle = next(self._order)
        heapq.heappush(self._heap, (end_offset, handle, token))
        return handle

    def cancel(self, handle: int) -> None:
        self._cancelled.add(handle)

    def take_committed(self, high_watermark: int) -> list[Token]:
        taken: list[Token] = []
        heap = self._heap
        while heap and heap[0][0] <= high_watermark:
            self._take_first(taken)
        return taken

    def take_all(self) -> list[Token]:
        taken: list[Token] = []
        while self._heap:
            self._take_first(taken)
        return taken

    def _take_first(self, taken: list[Token]) -> None:
        _, handle, token = heapq.heappop(self._heap)
        if handle in self._cancelled:
            self._cancelled.discard(handle)
        else:
            taken.append(token)
