"""A clock and a scheduler whose time passes only when a test moves it."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from typing import Any, TypeVar

from moldau.core.ids import Millis

Result = TypeVar("Result")


class _Timer:
    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class SimClock:
    """Implements `core.ports.Clock` and `core.ports.Scheduler`. Coroutines and jobs run to completion at once."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms
        self._started_ms = now_ms
        self._timers: list[tuple[int, int, _Timer]] = []
        self._order = count()

    def now_ms(self) -> Millis:
        return Millis(self._now_ms)

    def monotonic_ms(self) -> Millis:
        return Millis(self._now_ms - self._started_ms)

    def call_soon(self, callback: Callable[[], None]) -> _Timer:
        return self.call_later(0, callback)

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> _Timer:
        timer = _Timer(callback)
        heapq.heappush(self._timers, (self._now_ms + delay_ms, next(self._order), timer))
        return timer

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(work)

    def run_in_worker(self, job: Callable[[], Result]) -> Awaitable[Result]:
        async def run() -> Result:
            return job()

        return run()

    def advance(self, by_ms: int = 0) -> None:
        """Moves time forward and makes every call that becomes due, in order."""
        until_ms = self._now_ms + by_ms
        while self._timers and self._timers[0][0] <= until_ms:
            due_ms, _, timer = heapq.heappop(self._timers)
            self._now_ms = max(self._now_ms, due_ms)
            if timer.callback is not None:
                timer.callback()
        self._now_ms = until_ms

    @property
    def pending(self) -> int:
        """The calls that are still scheduled."""
        return sum(timer.callback is not None for _, _, timer in self._timers)
