"""One broker on a thread of its own, with its own event loop. Owns that thread from start to end."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from moldau.node.broker_node import BrokerNode
from moldau.testing.moved_clock import MovedClock, MovedLoop

WAIT_S_MAX: Final = 60.0
"""How long to wait for the broker to start or answer; after that, something hangs."""
END_S_MAX: Final = 60.0
TURNS_UNTIL_BEGUN: Final = 4
"""Turns of the loop until a timer that became due has woken its task."""

Result = TypeVar("Result")


class BrokerThread:
    def __init__(self, make_node: Callable[[], BrokerNode], clock: MovedClock) -> None:
        """Returns when the broker serves; raises the error when it cannot start."""
        self._clock = clock
        self._held: threading.Event | None = None
        self._started: Future[tuple[asyncio.AbstractEventLoop, BrokerNode]] = Future()
        self._ended: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(make_node,), name="moldau-broker", daemon=True
        )
        self._thread.start()
        try:
            self._loop, self.node = self._started.result(WAIT_S_MAX)
        except BaseException:
            self._started.cancel()
            self._thread.join(END_S_MAX)
            raise
        clock.tell(self, self._let_due_begin)

    def stop(self, *, clean: bool) -> None:
        """Returns when the broker and its thread have ended."""
        self.resume()
        self._clock.tell(self, None)
        self._loop.call_soon_threadsafe(self._stopping.set_result, clean)
        self._thread.join(END_S_MAX)
        self._ended.result(0)

    def pause(self) -> None:
        """Stops its thread, as SIGSTOP would: it answers nothing and notices nothing until `resume`."""
        if self._held is None:
            self._held = threading.Event()
            self._clock.tell(self, None)
            self._loop.call_soon_threadsafe(self._held.wait)

    def resume(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.set()
            self._clock.tell(self, self._let_due_begin)

    def call_now(self, job: Callable[[], Result]) -> Result:
        """Runs a function on the broker's thread and returns its result."""

        async def run() -> Result:
            return job()

        return self.call(run())

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine on the broker's event loop and returns its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S_MAX)

    def _run(self, make_node: Callable[[], BrokerNode]) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: MovedLoop(self._clock)) as runner:
                runner.run(self._serve(make_node))
        except BaseException as error:  # noqa: BLE001 The thread that waits for this one must get it.
            unheard = self._ended if self._started.done() else self._started
            unheard.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _serve(self, make_node: Callable[[], BrokerNode]) -> None:
        node = make_node()
        await node.start()
        loop = asyncio.get_running_loop()
        self._stopping: asyncio.Future[bool] = loop.create_future()
        if self._started.set_running_or_notify_cancel():
            self._started.set_result((loop, node))
        else:  # The caller has given up.
            self._stopping.set_result(False)
        await node.stop(clean=await self._stopping)

    def _let_due_begin(self) -> None:
        async def take_turns() -> None:
            for _ in range(TURNS_UNTIL_BEGUN):
                await asyncio.sleep(0)

        self.call(take_turns())
