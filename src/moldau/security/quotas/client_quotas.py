"""Counts what users and clients use, and says how long they have to wait.

Owned by one thread. Time is an argument. `is_active` is False as long as nobody has a quota: then nothing is counted.
"""

from collections.abc import Mapping
from typing import Final

from moldau.security.quotas.quota_keys import FETCH, MUTATION, PRODUCE, REQUEST, Entity
from moldau.security.quotas.quota_limits import Limit, QuotaLimits
from moldau.security.quotas.usage import Rate, TokenBucket, Windows

DEFAULT_WINDOWS: Final = Windows(11, 1000)
USAGES_MAX: Final = 10_000
IDLE_MS: Final = 3_600_000
"""After this time without use a count is forgotten, as in Kafka."""
UNLIMITED: Final = 0x7FFF_FFFF

_Key = tuple[str, str | None, str | None]


class ClientQuotas:
    def __init__(
        self, windows: Windows = DEFAULT_WINDOWS, controller_windows: Windows = DEFAULT_WINDOWS
    ) -> None:
        self._windows = windows
        self._controller_windows = controller_windows
        self.limits = QuotaLimits()
        self.is_active = False
        self._rates: dict[_Key, Rate] = {}
        self._buckets: dict[_Key, TokenBucket] = {}

    def put(self, limits: Mapping[Entity, Mapping[str, float]]) -> None:
        """Replaces all limits. What was used stays counted."""
        self.limits.put(limits)
        self.is_active = bool(self.limits.keys & {PRODUCE, FETCH, REQUEST, MUTATION})

    def produced(self, user: str, client: str, size: int, now_ms: int) -> int:
        """Counts the bytes of a request; the milliseconds to wait before the next one."""
        return self._record(PRODUCE, user, client, size, now_ms)

    def fetched(self, user: str, client: str, size: int, now_ms: int) -> int:
        """Counts the bytes of an answer; the milliseconds to wait. If it must wait, the answer is not sent, and not
        counted."""
        throttle_ms = self._record(FETCH, user, client, size, now_ms)
        if throttle_ms:
            self._record(FETCH, user, client, -size, now_ms)
        return throttle_ms

    def fetch_bytes_max(self, user: str, client: str) -> int:
        """More than this in one answer would have to wait whatever came before."""
        limit = self.limits.find(FETCH, user, client)
        if limit is None:
            return UNLIMITED
        seconds = (self._windows.samples - 1) * self._windows.size_ms / 1000
        return min(int(limit.value * seconds), UNLIMITED)

    def worked(self, user: str, client: str, seconds: float, now_ms: int) -> None:
        """Counts the time that requests took."""
        limit = self.limits.find(REQUEST, user, client)
        if limit is not None:
            self._rate(REQUEST, limit).record(seconds * 100, now_ms)

    def wait_for_work_ms(self, user: str, client: str, now_ms: int) -> int:
        """How long a client has to wait that took too much time; at most one window."""
        limit = self.limits.find(REQUEST, user, client)
        if limit is None:
            return 0
        throttle_ms = self._rate(REQUEST, limit).throttle_ms(limit.value, now_ms)
        return min(throttle_ms, self._windows.size_ms)

    def mutated(self, user: str, client: str, partitions: int, now_ms: int) -> None:
        """Counts partitions that were created or deleted."""
        limit = self.limits.find(MUTATION, user, client)
        if limit is not None:
            self._bucket(limit).record(partitions, limit.value, now_ms)

    def wait_for_mutations_ms(self, user: str, client: str, now_ms: int) -> int:
        limit = self.limits.find(MUTATION, user, client)
        return 0 if limit is None else self._bucket(limit).throttle_ms(limit.value, now_ms)

    def _record(self, key: str, user: str, client: str, amount: float, now_ms: int) -> int:
        limit = self.limits.find(key, user, client)
        if limit is None:
            return 0
        rate = self._rate(key, limit)
        rate.record(amount, now_ms)
        return rate.throttle_ms(limit.value, now_ms)

    def _rate(self, key: str, limit: Limit) -> Rate:
        place = (key, *limit.shared_by)
        rate = self._rates.get(place)
        if rate is None:
            _forget_idle(self._rates)
            rate = self._rates[place] = Rate(self._windows)
        return rate

    def _bucket(self, limit: Limit) -> TokenBucket:
        place = (MUTATION, *limit.shared_by)
        bucket = self._buckets.get(place)
        if bucket is None:
            _forget_idle(self._buckets)
            bucket = self._buckets[place] = TokenBucket(self._controller_windows)
        return bucket


def _forget_idle(usages: dict[_Key, Rate] | dict[_Key, TokenBucket]) -> None:
    """Forgets what has not been used for long, and the longest unused if that is not enough."""
    if len(usages) < USAGES_MAX:
        return
    by_age = sorted(usages, key=lambda place: usages[place].last_ms)
    newest_ms = usages[by_age[-1]].last_ms
    idle = [place for place in by_age if usages[place].last_ms < newest_ms - IDLE_MS]
    for place in idle or by_age[: USAGES_MAX // 10]:
        del usages[place]
