"""Doors in the network: every connection to a server passes one, and shut, it lets nothing through.

What was under way is held back, not refused, as in a network that drops packets: both sides must find out by
themselves.
"""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

Result = TypeVar("Result")
CHUNK_BYTES = 65_536
CALL_TIMEOUT_S = 30


class Gates:
    """Doors on one thread of their own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._doors: list[Gate] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def to(self, port: int) -> "Gate":
        """A new door, open, before the server at this port."""
        gate = Gate(self, port)
        self.run(gate.listen())
        self._doors.append(gate)
        return gate

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_TIMEOUT_S)

    async def _close(self) -> None:
        for gate in self._doors:
            await gate.close()


class Gate:
    def __init__(self, gates: Gates, target_port: int) -> None:
        self._gates = gates
        self._target_port = target_port
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._to_swallow = 0
        self.swallowed = 0
        self.port = 0

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def shut(self) -> None:
        self._gates.run(self._set(is_open=False))

    def open(self) -> None:
        self._gates.run(self._set(is_open=True))

    async def _set(self, *, is_open: bool) -> None:
        if is_open:
            self._is_open.set()
        else:
            self._is_open.clear()

    def cut(self, *, swallow_next: int) -> None:
        """Ends every connection. So many of those that come next are taken, and nobody ever answers them."""
        self._gates.run(self._cut(swallow_next))

    async def _cut(self, swallow_next: int) -> None:
        self._to_swallow = swallow_next
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        self._server.close()
        await self._cut(0)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._is_open.wait()
            if self._to_swallow:
                self._to_swallow -= 1
                self.swallowed += 1
                await asyncio.Event().wait()
            onward_reader, onward_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
            try:
                ways = (self._carry(reader, onward_writer), self._carry(onward_reader, writer))
                pumps = [asyncio.ensure_future(way) for way in ways]
                try:
                    await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for pump in pumps:
                        pump.cancel()
                    await asyncio.gather(*pumps, return_exceptions=True)
            finally:
                onward_writer.transport.abort()
        except OSError:
            return
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK_BYTES):
            await self._is_open.wait()
            writer.write(data)
            await writer.drain()
