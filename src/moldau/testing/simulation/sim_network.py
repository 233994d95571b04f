"""A network in memory: frames take time, and links break without notice.

Carries whole frames between clients and the sessions of brokers, as TCP would: in order on one connection, in any
order across several. A link that is cut holds everything sent over it until it is mended or given up.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

from moldau.broker.request.client_session import ClientSession
from moldau.core.chunks import Chunk, FileSlice
from moldau.core.errors import PeerError
from moldau.core.settings.listeners import SecurityProtocol
from moldau.testing.simulation.crash_disk import PowerCut
from moldau.testing.simulation.sim_loop import SimLoop

LISTENER: Final = "PLAINTEXT"
PORT: Final = 9092
LENGTH_BYTES: Final = 4

Accept = Callable[["SimConnection"], ClientSession]


class SimNetwork:
    def __init__(self, loop: SimLoop, random: Random) -> None:
        self.loop = loop
        self._random = random
        self._accepts: dict[str, Accept] = {}
        self._connections: dict[SimConnection, None] = {}
        self._cuts: dict[tuple[str, str], None] = {}
        self._frozen: set[str] = set()
        self._held: list[tuple[str, str, Callable[[], None]]] = []
        self.latency_ms_max = 4.0
        self.deliveries = 0

    def listen(self, host: str, accept: Accept) -> None:
        self._accepts[host] = accept

    def leave(self, host: str) -> None:
        """Ends the process: its connections break at once."""
        self._accepts.pop(host, None)
        for connection in [each for each in self._connections if host in (each.client, each.server)]:
            connection.is_server_gone |= connection.server == host
            connection.close()

    def cut(self, one: str, other: str) -> None:
        """Blocks `one` to `other` until `mend_all`. One way only: call it twice for both."""
        self._cuts[one, other] = None

    def freeze(self, host: str) -> None:
        """Pauses the process until `mend_all`: what is sent to it waits in its sockets, and so does what it sent
        last."""
        self._frozen.add(host)

    def mend_all(self) -> None:
        self._cuts.clear()
        self._frozen.clear()
        held, self._held = self._held, []
        for one, other, arrived in held:
            self.send(one, other, arrived)

    def is_cut(self, one: str, other: str) -> bool:
        return (one, other) in self._cuts

    def latency_s(self) -> float:
        return self._random.random() * self.latency_ms_max / 1000

    async def connect(self, client: str, server: str, timeout_s: float) -> "SimConnection":
        async with asyncio.timeout(timeout_s):
            await self._travel(client, server)
            await self._travel(server, client)
        if server not in self._accepts:
            raise ConnectionRefusedError(f"no broker listens at {server}")
        connection = SimConnection(self, client, server)
        connection.session = self._accepts[server](connection)
        self._connections[connection] = None
        return connection

    async def _travel(self, one: str, other: str) -> None:
        arrived = asyncio.Event()
        self.send(one, other, arrived.set)
        await arrived.wait()

    def send(self, one: str, other: str, arrived: Callable[[], None]) -> None:
        """Calls `arrived` on the other side after some time."""
        self.loop.call_later(self.latency_s(), self._arrive, one, other, arrived)

    def _arrive(self, one: str, other: str, arrived: Callable[[], None]) -> None:
        if (one, other) in self._cuts or one in self._frozen or other in self._frozen:
            self._held.append((one, other, arrived))
            return
        self.deliveries += 1
        arrived()

    def forget(self, connection: "SimConnection") -> None:
        self._connections.pop(connection, None)


class SimConnection:
    """Both ends of a connection. Implements `broker.request.client_session.ClientConnection` and
    `cluster.peer_network.PeerChannel`."""

    session: ClientSession

    def __init__(self, network: SimNetwork, client: str, server: str) -> None:
        self._network = network
        self.client = client
        self.server = server
        self.peer = f"{client}:1"
        self.local_host = server
        self.local_port = PORT
        self.listener = LISTENER
        self.protocol = SecurityProtocol.PLAINTEXT
        self.tls_principal: str | None = None
        self._answer: asyncio.Future[memoryview] | None = None
        self._is_closed = False
        self.is_server_gone = False

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview:
        if self._is_closed:
            raise ConnectionResetError("the connection is closed")
        answer: asyncio.Future[memoryview] = self._network.loop.create_future()
        self._answer = answer
        self._network.send(self.client, self.server, lambda: self._deliver(frame))
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except (TimeoutError, asyncio.CancelledError):
            self.close()
            raise
        finally:
            self._answer = None

    def _deliver(self, frame: bytes) -> None:
        """Frames that were sent arrive, even if the sender has given up since."""
        if self.is_server_gone:
            return
        try:
            chunks = self.session.on_frame(memoryview(bytearray(frame)))
        except (PeerError, PowerCut):
            self.close()
            return
        if chunks is not None:
            self.reply(chunks)

    def reply(self, chunks: list[Chunk]) -> None:
        if self._is_closed or not chunks:
            return
        try:
            data = b"".join(each.read() if isinstance(each, FileSlice) else bytes(each) for each in chunks)
        except PowerCut:
            self.close()
            return
        answer, waiting = memoryview(data)[LENGTH_BYTES:], self._answer

        def arrived() -> None:
            if waiting is not None and not waiting.done() and not self._is_closed:
                waiting.set_result(answer)

        self._network.send(self.server, self.client, arrived)

    def abort(self, reason: str) -> None:
        self.close()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._network.forget(self)
        if hasattr(self, "session"):
            self.session.closed()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the connection broke"))
