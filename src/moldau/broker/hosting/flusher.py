"""Flushes logs to stable storage on worker threads and calls back when that is done.

There is one fsync per log at a time; appends in the meantime share the next one. A flush that fails takes the
directory offline, and the callbacks receive the fault.
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
        """Logs with a flush under way, and the callbacks of the flush after it."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_closed = False

    def after_flush(self, logs: Iterable[PartitionLog], callback: FlushCallback) -> None:
        """Calls back when everything appended to `logs` so far is on disk, or with the first fault."""
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
        """Starts no more flushes and waits for those under way. A flush holds the unsaved index entries of
        its log; a clean stop that abandoned it would lose them."""
        self._is_closed = True
        await self._idle.wait()

    def flush_rolled(self, log: PartitionLog) -> None:
        """Flushes complete segments only, as Kafka does in the background after each roll."""
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
