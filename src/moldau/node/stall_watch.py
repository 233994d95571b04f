"""Counts stalls of the event loop: while one callback runs for long, everything else in the broker waits."""

import asyncio
import logging
from typing import Final

_log = logging.getLogger("moldau.node")

TICK_S: Final = 0.1
STALL_S_MIN: Final = 0.010
REPORT_INTERVAL_S: Final = 60.0


class StallWatch:
    """Wakes up regularly and measures how late it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._expected = loop.time() + TICK_S
        self._timer = loop.call_at(self._expected, self._tick)
        self._reported_at = loop.time()
        self._reported_count = 0
        self._longest_s = 0.0
        self.count = 0

    def stop(self) -> None:
        self._timer.cancel()

    def _tick(self) -> None:
        now = self._loop.time()
        late_s = now - self._expected
        if late_s > STALL_S_MIN:
            self.count += 1
            self._longest_s = max(self._longest_s, late_s)
        if self.count > self._reported_count and now - self._reported_at > REPORT_INTERVAL_S:
            _log.info(
                "the event loop stalled %d times in the last %.0f s, for up to %.0f ms",
                self.count - self._reported_count, now - self._reported_at, self._longest_s * 1000,
            )  # fmt: skip
            self._reported_at, self._reported_count, self._longest_s = now, self.count, 0.0
        self._expected = now + TICK_S
        self._timer = self._loop.call_at(self._expected, self._tick)
