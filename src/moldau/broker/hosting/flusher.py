"""Puts logs on stable storage off the owner's thread, and tells who waits for it.

One fsync per log at a time; appends that come meanwhile share the next one. A flush that fails takes the
directory offline, and whoever waits is told the fault.
"""

import asyncio
from collections.abc import Callable, Iterable

from moldau.broker.hosting.disks import Disks
from moldau.core.errors import StorageFault
from moldau.core.ports import Clock, Scheduler
from moldau.storage.log.partition_log import PartitionLog

FlushCallback = Callable[[StorageFault | None], None]


class Flusher:
    def __init__(self, scheduler: Scheduler, clock: Clock, disks: Disks) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._disks = disks
        self._waiting: dict[PartitionLog, list[FlushCallback]] = {}
        """Logs with a flush under way, and who waits for the one after it."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_closed = False

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

    def flush(self, log: PartitionLog, callback: FlushCallback | None = None) -> None:
        callback = callback or _nobody_waits
        waiting = self._waiting.get(log)
        if waiting is not None:
            waiting.append(callback)
        else:
            self._begin(log, [callback])

    async def close(self) -> None:
        """Begins nothing more and returns when what was begun is done: a flush has taken its log's unsaved index
        entries, and a clean stop that left it half-way would lose them."""
        self._is_closed = True
        await self._idle.wait()

    def flush_rolled(self, log: PartitionLog) -> None:
        """Only the segments that are complete: what Kafka does in the background after each roll."""
        if log not in self._waiting:
            self._begin(log, [_nobody_waits], rolled_only=True)

    def _begin(self, log: PartitionLog, callbacks: list[FlushCallback], *, rolled_only: bool = False) -> None:
        if self._is_closed:
            return
        self._waiting[log] = []
        self._idle.clear()
        self._scheduler.spawn(self._flush(log, callbacks, rolled_only=rolled_only))

    async def _flush(
        self, log: PartitionLog, callbacks: list[FlushCallback], *, rolled_only: bool = False
    ) -> None:
        while callbacks:
            fault = await self._flush_once(log, rolled_only=rolled_only)
            rolled_only = False
            for callback in callbacks:
                callback(fault)
            callbacks, self._waiting[log] = self._waiting[log], []
        del self._waiting[log]
        if not self._waiting:
            self._idle.set()

    async def _flush_once(self, log: PartitionLog, *, rolled_only: bool) -> StorageFault | None:
        try:
            job = log.begin_flush(self._clock.now_ms(), rolled_only=rolled_only)
            if job is not None:
                await self._scheduler.run_in_worker(job.run)
                log.finish_flush(job)
        except StorageFault as fault:
            self._disks.fail(fault)
            return fault
        return None


def _nobody_waits(_: StorageFault | None) -> None:
    pass
