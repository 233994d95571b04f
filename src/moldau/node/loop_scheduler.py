"""`core.ports.Scheduler` on an asyncio loop: the only module that starts tasks and hands work to threads."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_log = logging.getLogger("moldau.node")

Result = TypeVar("Result")


class LoopScheduler:
    def __init__(self, loop: asyncio.AbstractEventLoop, *, name: str, workers_max: int) -> None:
        self._loop = loop
        self._workers = ThreadPoolExecutor(workers_max, thread_name_prefix=f"moldau-{name}")
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self.call_soon: Callable[[Callable[[], None]], object] = loop.call_soon

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(delay_ms / 1000, callback)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_closed:
            work.close()
            return
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def run_in_worker(self, job: Callable[[], Result]) -> asyncio.Future[Result]:
        return self._loop.run_in_executor(self._workers, job)

    async def close(self) -> None:
        """Cancels all tasks and waits for their end and that of the threads."""
        # A task cancelled before its first step would never await its coroutine.
        await asyncio.sleep(0)
        self._is_closed = True
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._workers.shutdown(wait=True)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a background task failed", exc_info=error)
