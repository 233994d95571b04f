"""Keeping the cleaner's reads and writes below `log.cleaner.io.max.bytes.per.second`."""

import time
from collections.abc import Callable


class IoThrottle:
    """Waits in the calling thread. The allowance does not pile up while nothing is done."""

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
        """`size` bytes have just been read or written: returns when the next may be."""
        now = self._monotonic()
        self._free_at = max(self._free_at, now) + size / self._bytes_per_second_max
        if self._free_at > now:
            self._sleep(self._free_at - now)

    def breathe(self) -> None:
        """Lets the owner's thread have the interpreter, which it would get only after a whole switch interval."""
        self._sleep(0)
