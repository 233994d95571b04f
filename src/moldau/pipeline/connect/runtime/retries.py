"""When a failed operation is tried again: pauses that double, up to a limit, until the time is up. Pure."""

import random
from collections.abc import Callable
from typing import Final

from moldau.pipeline.connect.runtime.chain_settings import ChainSettings

FIRST_DELAY_MS: Final = 300


class Attempts:
    """Of one operation."""

    def __init__(self, timeout_ms: int, delay_max_ms: int, dice: Callable[[], float] = random.random) -> None:
        """`timeout_ms` -1: without end. 0: no second attempt."""
        self._timeout_ms = timeout_ms
        self._delay_max_ms = delay_max_ms
        self._dice = dice
        self._began_ms: int | None = None
        self.count = 0

    def next_delay_ms(self, now_ms: int) -> int | None:
        """After a failure: how long to wait. None: there is no further attempt."""
        if self._began_ms is None:
            self._began_ms = now_ms
        self.count += 1
        delay_ms = FIRST_DELAY_MS << min(self.count - 1, 30)
        if delay_ms > self._delay_max_ms:
            # Tasks that failed together do not return together.
            delay_ms = int(self._delay_max_ms * (0.5 + self._dice() / 2))
        if self._timeout_ms < 0:
            return delay_ms
        left_ms = self._began_ms + self._timeout_ms - now_ms
        return min(delay_ms, left_ms) if left_ms > 0 else None


def patient(settings: ChainSettings) -> Attempts:
    """For calls of a task: as in Kafka they are made again without end, unless a time is set."""
    return Attempts(settings.retry_timeout_ms or -1, settings.retry_delay_max_ms)
