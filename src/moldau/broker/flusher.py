"""Puts logs on stable storage off the owner's thread, and tells who waits for it.

One fsync per log at a time; appends that come meanwhile share the next one. A flush that fails takes the
directory offline and the waiting answers are never sent: their connections are closed by whoever parked them.
"""

from collections.abc import Callable, Iterable

from moldau.broker.disks import Disks
from moldau.core.errors import StorageFault
from moldau.core.ports import Clock, Scheduler
from moldau.storage.partition_log import PartitionLog

FlushCallback = Callable[[StorageFault | None], None]


class Flusher:
    def __init__(self, scheduler: Scheduler, clock: Clock, disks: Disks) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._disks = disks
        self._waiting: dict[PartitionLog, list[FlushCallback]] = {}
        """Logs with a flush under way, and who waits for the one after it."""

    def after_flush(self, logs: Iterable[PartitionLog], callback: FlushCallback) -> None:
        """Calls back once everything appended to `logs` so far is on disk, or the first of them has failed."""
        left = len(logs := list(logs))
        is_done = False

        def one_done(fault: StorageFault | None) -> None:
            nonlocal left, is_done
            left -= 1
            if not is_done and (fault is not None or left == 0):
                is_done = True
                callback(fault)

        for log in logs:
            self.flush(log, one_done)

    def flush(self, log: PartitionLog, callback: FlushCallback = lambda _: None) -> None:
        waiting = self._waiting.get(log)
        if waiting is not None:
            waiting.append(callback)
            return
        self._waiting[log] = []
        self._scheduler.spawn(self._flush(log, [callback]))

    async def _flush(self, log: PartitionLog, callbacks: list[FlushCallback]) -> None:
        while callbacks:
            fault = await self._flush_once(log)
            for callback in callbacks:
                callback(fault)
            callbacks, self._waiting[log] = self._waiting[log], []
        del self._waiting[log]

    async def _flush_once(self, log: PartitionLog) -> StorageFault | None:
        try:
            job = log.begin_flush(self._clock.now_ms())
            if job is not None:
                await self._scheduler.run_in_worker(job.run)
                log.finish_flush(job)
        except StorageFault as fault:
            self._disks.fail(fault)
            return fault
        return None
