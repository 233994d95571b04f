"""What was used of a quota lately, and how long to wait until it is within its limit again.

Kafka's `Rate` over samples and its `TokenBucket`: clients see the same throttle times.
"""

from collections import deque
from typing import NamedTuple


class Windows(NamedTuple):
    """The settings `quota.window.num` and `quota.window.size.seconds`, or those of the controller."""

    samples: int
    size_ms: int


class Rate:
    """The amount per second over the last samples."""

    __slots__ = ("_samples", "_windows", "last_ms")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._samples: deque[list[float]] = deque()
        """Start and amount of each, the oldest first."""
        self.last_ms = 0

    def record(self, amount: float, now_ms: int) -> None:
        """A negative amount takes back what was recorded before."""
        samples = self._samples
        self._forget(now_ms)
        if not samples or now_ms - samples[-1][0] >= self._windows.size_ms:
            samples.append([now_ms, 0.0])
        samples[-1][1] += amount
        self.last_ms = now_ms

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """How long to wait; 0 while the rate is within the limit."""
        self._forget(now_ms)
        elapsed_ms = self._elapsed_ms(now_ms)
        rate = sum(amount for _, amount in self._samples) * 1000 / elapsed_ms
        if rate <= limit:
            return 0
        if limit <= 0:
            return self._windows.samples * self._windows.size_ms
        return round((rate - limit) / limit * elapsed_ms)

    def _elapsed_ms(self, now_ms: int) -> int:
        """The time over which the amount is spread: a rate that has just begun is not taken for a high one."""
        elapsed_ms = now_ms - int(self._samples[0][0]) if self._samples else 0
        missing = self._windows.samples - 1 - elapsed_ms // self._windows.size_ms
        return max(elapsed_ms + max(missing, 0) * self._windows.size_ms, 1)

    def _forget(self, now_ms: int) -> None:
        oldest_ms = now_ms - self._windows.samples * self._windows.size_ms
        samples = self._samples
        while samples and samples[0][0] <= oldest_ms:
            samples.popleft()


class TokenBucket:
    """Lets bursts through as long as the amount per second is kept in the long run (KIP-599)."""

    __slots__ = ("_burst_s", "_tokens", "last_ms")

    def __init__(self, windows: Windows) -> None:
        self._burst_s = windows.samples * windows.size_ms / 1000
        self._tokens: float | None = None
        """None: full."""
        self.last_ms = 0

    def record(self, amount: float, limit: float, now_ms: int) -> None:
        self._tokens = self._filled(limit, now_ms) - amount
        self.last_ms = now_ms

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """How long to wait until there is a token; 0 while there is one."""
        tokens = self._filled(limit, now_ms)
        if tokens >= 0:
            return 0
        return round(-tokens / limit * 1000) if limit > 0 else round(self._burst_s * 1000)

    def _filled(self, limit: float, now_ms: int) -> float:
        burst = limit * self._burst_s
        if self._tokens is None:
            return burst
        return min(burst, self._tokens + limit * (now_ms - self.last_ms) / 1000)
