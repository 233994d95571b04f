"""Time that goes as it does outside, plus what a test has added.

The broker's clock and the event loop it runs on are moved together: whatever waits for a time, be it retention, a
member's session or a parked fetch, finds that it has come.
"""

import asyncio
import time
from collections.abc import Callable

from moldau.core.ids import Millis

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_MILLI = 1_000_000


class MovedClock:
    """Implements `core.ports.Clock`. May be moved from any thread, forward only."""

    def __init__(self) -> None:
        self._moved_ns = 0
        self._told: dict[object, Callable[[], None]] = {}

    def advance(self, seconds: float) -> None:
        """Returns when everything that fell due on a running broker has begun."""
        if seconds < 0:
            raise ValueError(f"a clock cannot be moved back, and {seconds} is negative")
        self._moved_ns += round(seconds * NANOS_PER_SECOND)
        for on_moved in list(self._told.values()):
            on_moved()

    @property
    def moved_s(self) -> float:
        """How far ahead of the world it is."""
        return self._moved_ns / NANOS_PER_SECOND

    def now_ms(self) -> Millis:
        return Millis((time.time_ns() + self._moved_ns) // NANOS_PER_MILLI)

    def monotonic_ms(self) -> Millis:
        return Millis((time.monotonic_ns() + self._moved_ns) // NANOS_PER_MILLI)

    def tell(self, who: object, on_moved: Callable[[], None] | None) -> None:
        """Has somebody told of each move; None: no more."""
        if on_moved is None:
            self._told.pop(who, None)
        else:
            self._told[who] = on_moved


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop that lives by such a clock. Not uvloop's, which asks nobody for the time."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__()
        self._clock = clock

    def time(self) -> float:
        return super().time() + self._clock.moved_s
