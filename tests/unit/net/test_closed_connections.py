"""The memory of a closed connection is released at once, without the garbage collector."""

import asyncio
import gc
import struct
import weakref

from moldau.net.connection import Chunk, Connection
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners

LIMITS = ConnectionLimits(1 << 20, idle_ms_max=60_000, connections_max=10, connections_per_ip_max=10)
UNFINISHED = struct.pack(">i", 1000) + bytes(500)
"""A frame of which a part is still to come needs a buffer of the connection's own."""


class Holding:
    """As the broker's sessions do, it keeps its connection."""

    def __init__(self, connection: Connection, is_closed: asyncio.Event) -> None:
        self.connection = connection
        self._is_closed = is_closed

    def on_frame(self, frame: memoryview) -> list[Chunk]:
        return [bytes(frame)]

    def closed(self) -> None:
        self._is_closed.set()


async def left_behind() -> list[Holding]:
    came: list[weakref.ref[Holding]] = []
    is_closed = asyncio.Event()

    def open_session(connection: Connection) -> Holding:
        session = Holding(connection, is_closed)
        came.append(weakref.ref(session))
        return session

    loop = asyncio.get_running_loop()
    listeners = Listeners(loop, lambda: LIMITS, open_session, backlog=1, send_buffer_bytes=-1)
    try:
        endpoint = listeners.listen(Endpoint("PLAINTEXT", "127.0.0.1", 0))
        reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
        writer.write(struct.pack(">i", 1) + b"?" + UNFINISHED)
        assert await reader.readexactly(1) == b"?"
        writer.close()
        await writer.wait_closed()
        await is_closed.wait()
        return [session for each in came if (session := each()) is not None]
    finally:
        listeners.close()


def test_nothing_is_left_of_a_closed_connection() -> None:
    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(left_behind()) == []
    finally:
        gc.enable()
