"""The replication throttle (KIP-73): bytes per second over a sliding window. Pure.

A replica is throttled at the leader, at the follower or at both, as its topic's settings say. In-sync replicas are
counted but never held back, so that a throttle slows a reassignment down and not the cluster.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

ALL: Final = "*"


def is_throttled(replicas: Sequence[str], partition: int, broker_id: int) -> bool:
    """Whether `replicas`, of a topic's `{leader,follower}.replication.throttled.replicas`, name this one."""
    return bool(replicas) and (replicas[0] == ALL or f"{partition}:{broker_id}" in replicas)


class ReplicationThrottle:
    """The bytes one broker has sent to, or fetched for, throttled replicas."""

    __slots__ = ("_rate_max", "_sample_count", "_sample_ms", "_samples", "_total")

    def __init__(self, rate_max: Callable[[], int], sample_count: int, sample_ms: int) -> None:
        self._rate_max = rate_max
        """The present limit in bytes per second."""
        self._sample_count = sample_count
        self._sample_ms = sample_ms
        self._samples: deque[list[int]] = deque()
        """(begin in ms, bytes), oldest first."""
        self._total = 0

    def record(self, size: int, now_ms: int) -> None:
        if not self._samples or now_ms - self._samples[-1][0] >= self._sample_ms:
            self._samples.append([now_ms, 0])
        self._samples[-1][1] += size
        self._total += size

    def is_exceeded(self, now_ms: int) -> bool:
        return self.bytes_per_second(now_ms) > self._rate_max()

    def bytes_per_second(self, now_ms: int) -> float:
        """Computed as in Kafka: a window that has just begun counts as nearly full, which lets the first bytes pass."""
        while self._samples and now_ms - self._samples[0][0] >= self._sample_count * self._sample_ms:
            self._total -= self._samples.popleft()[1]
        if not self._samples:
            return 0.0
        elapsed_ms = now_ms - self._samples[0][0]
        whole_ms = max(1, self._sample_count - 1) * self._sample_ms
        return self._total * 1000 / max(elapsed_ms, whole_ms)
