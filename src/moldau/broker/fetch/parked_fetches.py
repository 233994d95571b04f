"""Fetches that wait for data.

An append marks the partition. Once per turn of the event loop the fetches waiting on marked partitions try
again. A fetch leaves all its partitions in one step, whether it was answered, timed out, or its client
disconnected.
"""

from collections.abc import Callable, Iterable

from moldau.broker.hosting.hosted_partitions import Partition
from moldau.core.ports import Cancellable, Scheduler


class ParkedFetch:
    """A fetch without enough bytes yet. `attempt(final)` answers it if it can, and must if `final`."""

    __slots__ = ("attempt", "partitions", "timer")

    def __init__(self, attempt: Callable[[bool], bool], partitions: Iterable[Partition]) -> None:
        self.attempt = attempt
        self.partitions = tuple(partitions)
        self.timer: Cancellable | None = None


class ParkedFetches:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._woken: dict[ParkedFetch, None] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def park(self, fetch: ParkedFetch, wait_ms: int) -> None:
        self._count += 1
        for partition in fetch.partitions:
            partition.waiters[fetch] = None
        fetch.timer = self._scheduler.call_later(wait_ms, lambda: self._time_out(fetch))

    def appended(self, partition: Partition) -> None:
        """There is something new to read. Callers check `partition.waiters` first: usually nobody waits."""
        if not self._woken:
            self._scheduler.call_soon(self._attempt_woken)
        self._woken.update(partition.waiters)

    def wake(self, fetch: ParkedFetch) -> None:
        """Makes the fetch try again, whatever the reason."""
        if not self._woken:
            self._scheduler.call_soon(self._attempt_woken)
        self._woken[fetch] = None

    def cancel(self, fetch: ParkedFetch) -> None:
        """The client disconnected."""
        self._unlink(fetch)

    def _attempt_woken(self) -> None:
        woken, self._woken = self._woken, {}
        for fetch in woken:
            if fetch.timer is not None and fetch.attempt(False):
                self._unlink(fetch)

    def _time_out(self, fetch: ParkedFetch) -> None:
        self._unlink(fetch)
        fetch.attempt(True)

    def _unlink(self, fetch: ParkedFetch) -> None:
        if fetch.timer is None:
            return
        fetch.timer.cancel()
        fetch.timer = None
        self._count -= 1
        for partition in fetch.partitions:
            partition.waiters.pop(fetch, None)
