"""Keeps the cleaner's reads and writes below `log.cleaner.io.max.bytes.per.second`."""

import time
from collections.abc import Callable


class IoThrottle:
    """Sleeps in the calling thread. The allowance does not accumulate while the cleaner is idle."""

    __slots__ = ("_bytes_per_second_max", "_free_at", "_monotonic", "_sleep")

    def __init__(
        self,
        bytes_per_second_max: float,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_second_max = bytes_per_second_max
        self._monotonic = monotonic
        self._sleep = sleep
        self._free_at = 0.0

    def used(self, size: int) -> None:
        """Call after reading or writing `size` bytes. Returns when the next bytes may follow."""
        now = self._monotonic()
        self._free_at = max(self._free_at, now) + size / self._bytes_per_second_max
        if self._free_at > now:
            self._sleep(self._free_at - now)

    def yield_interpreter(self) -> None:
        """Yields the interpreter to the thread that owns the logs, which otherwise waits a whole switch interval for
        it."""
        self._sleep(0)
