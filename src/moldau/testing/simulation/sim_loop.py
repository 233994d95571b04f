"""An event loop whose time jumps to the next timer as soon as nothing is left to run.

Everything that runs on asyncio runs on it unchanged, hours in milliseconds and the same each time: there are no
sockets, and the loop itself runs the jobs for worker threads.
"""

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, TypeVar

from moldau.core.ids import Millis

Result = TypeVar("Result")
EPOCH_MS = 1_700_000_000_000


class Stuck(Exception):
    """Nothing is scheduled any more, and something still waits."""


class _NoSelector:
    def __init__(self, loop: "SimLoop") -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[object]:
        if timeout is None:
            raise Stuck
        self._loop.pass_time(timeout)
        return []

    def close(self) -> None: ...


class SimLoop(asyncio.BaseEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        self._selector = _NoSelector(self)
        self.problems: list[dict[str, Any]] = []
        """Exceptions that nothing caught."""
        self.set_exception_handler(lambda _, context: self.problems.append(context))

    def time(self) -> float:
        return self._now_s

    def pass_time(self, seconds: float) -> None:
        self._now_s += max(0.0, seconds)

    def _process_events(self, event_list: list[object]) -> None: ...

    def _write_to_self(self) -> None: ...


class SimClock:
    """One machine's clock: the loop's time plus an error."""

    def __init__(self, loop: SimLoop, skew_ms: int = 0) -> None:
        self._loop = loop
        self.skew_ms = skew_ms

    def now_ms(self) -> Millis:
        return Millis(EPOCH_MS + round(self._loop.time() * 1000) + self.skew_ms)

    def monotonic_ms(self) -> Millis:
        return Millis(round(self._loop.time() * 1000))


class SimThreads:
    """Implements `core.ports.Scheduler` for one process. Jobs for workers take a while; with one worker they run in
    order. After `kill` nothing of the process runs any more."""

    def __init__(self, loop: SimLoop, random: Random, *, is_in_order: bool, delay_ms_max: float) -> None:
        self._loop = loop
        self._random = random
        self._delay_ms_max = delay_ms_max
        self.delay_ms_min = 0.0
        self._turn = asyncio.Lock() if is_in_order else None
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._is_dead = False

    def call_soon(self, callback: Callable[[], None]) -> asyncio.Handle:
        return self._loop.call_soon(self._unless_dead, callback)

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(delay_ms / 1000, self._unless_dead, callback)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_dead:
            work.close()
            return
        task = self._loop.create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._finished)

    async def run_in_worker(self, job: Callable[[], Result]) -> Result:
        if self._turn is None:
            return await self._run(job)
        async with self._turn:
            return await self._run(job)

    def kill(self) -> None:
        self._is_dead = True
        for task in self._tasks:
            task.cancel()

    async def _run(self, job: Callable[[], Result]) -> Result:
        await asyncio.sleep((self.delay_ms_min + self._random.random() * self._delay_ms_max) / 1000)
        result = job()
        await asyncio.sleep(self._random.random() * self._delay_ms_max / 1000)
        return result

    def _unless_dead(self, callback: Callable[[], None]) -> None:
        if not self._is_dead:
            callback()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if task.cancelled() or (error := task.exception()) is None or self._is_dead:
            return
        self._loop.call_exception_handler({"message": "a background task failed", "exception": error})


def run_simulated(work: Callable[[SimLoop], Coroutine[Any, Any, Result]]) -> Result:
    """Runs `work` on a loop of its own and returns its result. Tasks it left running are dropped."""
    loop = SimLoop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(work(loop))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        heapq.heapify(loop._scheduled)  # type: ignore[attr-defined]
        loop.run_until_complete(asyncio.sleep(0))
        asyncio.set_event_loop(None)
        loop.close()
