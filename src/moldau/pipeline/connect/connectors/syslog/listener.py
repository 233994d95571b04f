"""The sockets of a task, in an event loop in a thread of its own. What is received waits here for the task.

Over TCP a sender has to wait while the queue is full. Over UDP messages are dropped then, and counted in the log.
"""

import asyncio
import errno
import logging
import socket
import ssl
import threading
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.syslog.frames import Frames, TooLong

READ_BYTES: Final = 64 * 1024
KERNEL_BYTES: Final = 4 << 20
"""What the system keeps of datagrams until they are read, if it lets us."""
CONNECTIONS_MAX: Final = 1_000
DROPS_PER_WARNING: Final = 1_000

log = logging.getLogger(__name__)


class Transport(StrEnum):
    UDP = "UDP"
    TCP = "TCP"
    TLS = "TCPSSL"


class Arrived(NamedTuple):
    data: bytes
    address: str
    at: datetime


class Listener:
    """Listens from `open` to `close`."""

    def __init__(
        self, transport: Transport, address: str, port: int, count_max: int, tls: ssl.SSLContext | None
    ) -> None:
        self._transport, self._address, self._port, self._tls = transport, address, port, tls
        self._count_max = count_max
        self._waiting: deque[Arrived] = deque()
        self._arrived = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._has_space: asyncio.Event
        self._streams: set[asyncio.Task[Any]] = set()
        self._server: asyncio.Server | asyncio.DatagramTransport | None = None
        self._dropped = 0

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def place(self) -> str:
        return f"{self._transport} port {self._port} of {self._address}"

    def open(self) -> None:
        """Raises RetriableError while another process has the port, ConnectError if it can never be had."""
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="syslog", daemon=True)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(), loop).result()
        except OSError as failure:
            self.close()
            text = f"{self.place} cannot be listened to: {failure.strerror or failure}"
            if failure.errno == errno.EADDRINUSE:
                raise RetriableError(
                    f"{text}. The task waits for it; if it stays so, find the process with `ss -lntup`, or change "
                    "syslog.port"
                ) from failure
            if failure.errno in (errno.EACCES, errno.EPERM):
                raise ConnectError(
                    f"{text}. Ports below 1024 belong to the administrator: take a higher syslog.port"
                ) from failure
            raise ConnectError(
                f"{text}. Set syslog.listen.address to an address of this machine"
            ) from failure

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        with suppress(OSError):
            asyncio.run_coroutine_threadsafe(self._close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()
        self._server = None

    def take(self, count_max: int, wait_s: float) -> list[Arrived]:
        """In the task's thread."""
        with self._arrived:
            if not self._waiting and wait_s > 0:
                self._arrived.wait(wait_s)
            found = [self._waiting.popleft() for _ in range(min(count_max, len(self._waiting)))]
        if found and self._loop is not None:
            self._loop.call_soon_threadsafe(self._has_space.set)
        return found

    def left(self) -> list[Arrived]:
        """What nobody has taken, once it is closed."""
        found = list(self._waiting)
        self._waiting.clear()
        return found

    # In the thread of the loop

    async def _listen(self) -> asyncio.Server | asyncio.DatagramTransport:
        self._has_space = asyncio.Event()
        self._has_space.set()
        if self._transport is Transport.UDP:
            family = socket.AF_INET6 if ":" in self._address else socket.AF_INET
            udp = socket.socket(family, socket.SOCK_DGRAM)
            try:
                udp.setblocking(False)
                with suppress(OSError):
                    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BYTES)
                udp.bind((self._address, self._port))
            except OSError:
                udp.close()
                raise
            transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                lambda: _Datagrams(self), sock=udp
            )
            return transport
        return await asyncio.start_server(self._stream, self._address, self._port, ssl=self._tls)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for one in self._streams:
            one.cancel()
        await asyncio.gather(*self._streams, return_exceptions=True)

    def add_datagram(self, data: bytes, address: str) -> None:
        if len(self._waiting) >= self._count_max:
            if self._dropped % DROPS_PER_WARNING == 0:
                log.warning(
                    "datagrams to %s are dropped, because %d messages wait for Kafka (syslog.queue.max.size); "
                    "%d until now",
                    self.place,
                    self._count_max,
                    self._dropped,
                )
            self._dropped += 1
            return
        # A datagram is one message, whatever its lines (RFC 5426).
        self._add([data.rstrip(b"\r\n\0")], address)

    def _add(self, messages: list[bytes], address: str) -> None:
        now = datetime.now(UTC)
        with self._arrived:
            self._waiting += [Arrived(one, address, now) for one in messages if one]
            self._arrived.notify_all()

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        peer = writer.get_extra_info("peername") or ("",)
        if len(self._streams) >= CONNECTIONS_MAX:
            log.warning("%s has %d connections: one from %s is closed", self.place, CONNECTIONS_MAX, peer[0])
            writer.close()
            return
        self._streams.add(task)
        frames = Frames()
        try:
            while data := await reader.read(READ_BYTES):
                await self._add_patiently(frames.feed(data), peer[0])
            await self._add_patiently(frames.end(), peer[0])
        except TooLong as wrong:
            log.warning("%s: the connection from %s is closed: %s", self.place, peer[0], wrong)
        except OSError as failure:
            self._add(frames.end(), peer[0])
            log.info("%s: the connection from %s has ended: %s", self.place, peer[0], failure)
        finally:
            self._streams.discard(task)
            writer.close()

    async def _add_patiently(self, messages: list[bytes], address: str) -> None:
        if not messages:
            return
        while len(self._waiting) >= self._count_max:
            self._has_space.clear()
            if len(self._waiting) >= self._count_max:
                try:
                    await self._has_space.wait()
                except asyncio.CancelledError:
                    # The sender is rid of them.
                    self._add(messages, address)
                    raise
        self._add(messages, address)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def datagram_received(self, data: bytes, address: Any) -> None:
        self._listener.add_datagram(data, address[0])
