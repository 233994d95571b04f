"""A clock that runs at normal speed, plus the time a test has added.

The broker's clock and its event loop move together, so that everything that waits for a time (retention, a member's
session, a parked fetch) becomes due.
"""

import asyncio
import time
from collections.abc import Callable

from moldau.core.ids import Millis

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_MILLI = 1_000_000


class MovedClock:
    """Implements `core.ports.Clock`. Any thread may move it, but only forward."""

    def __init__(self) -> None:
        self._moved_ns = 0
        self._told: dict[object, Callable[[], None]] = {}

    def advance(self, seconds: float) -> None:
        """Moves the clock. Returns when everything that became due on a running broker has started."""
        if seconds < 0:
            raise ValueError(f"a clock cannot move back: {seconds} is negative")
        self._moved_ns += round(seconds * NANOS_PER_SECOND)
        for on_moved in list(self._told.values()):
            on_moved()

    @property
    def moved_s(self) -> float:
        """How far ahead of real time it is."""
        return self._moved_ns / NANOS_PER_SECOND

    def now_ms(self) -> Millis:
        return Millis((time.time_ns() + self._moved_ns) // NANOS_PER_MILLI)

    def monotonic_ms(self) -> Millis:
        return Millis((time.monotonic_ns() + self._moved_ns) // NANOS_PER_MILLI)

    def tell(self, who: object, on_moved: Callable[[], None] | None) -> None:
        """Sets the callback for each move; None removes it."""
        if on_moved is None:
            self._told.pop(who, None)
        else:
            self._told[who] = on_moved


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop that uses such a clock. Not uvloop's, whose time cannot be replaced."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__()
        self._clock = clock

    def time(self) -> float:
        return super().time() + self._clock.moved_s
