"""An outgoing connection to another broker: one request at a time, each answer in its own buffer.

Handles lengths and bytes, not their meaning.
"""

import asyncio
import ssl
import struct
from typing import Final, cast

_LENGTH: Final = struct.Struct(">i")
ANSWER_BYTES_MAX: Final = 512 * 1024 * 1024


class Channel(asyncio.BufferedProtocol):
    """`exchange` raises ConnectionError when the peer disconnects; the channel cannot be used again then."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._length = memoryview(bytearray(_LENGTH.size))
        self._target = self._length
        self._filled = 0
        self._answer: asyncio.Future[memoryview] | None = None

    @classmethod
    async def open(
        cls, host: str, port: int, timeout_s: float, *, tls: ssl.SSLContext | None = None
    ) -> "Channel":
        """With `tls` an OSError also if the peer's certificate is not to be trusted or not for `host`."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(timeout_s):
            _, channel = await loop.create_connection(cls, host, port, ssl=tls)
        return channel

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview:
        """Returns the answer without its length. TimeoutError if it does not arrive in time."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the connection is closed")
        assert self._answer is None, "one request at a time"
        answer: asyncio.Future[memoryview] = asyncio.get_running_loop().create_future()
        self._answer = answer
        self._transport.writelines((_LENGTH.pack(len(frame)), frame))
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except (TimeoutError, asyncio.CancelledError):
            self.close()
            raise
        finally:
            self._answer = None

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._fail(ConnectionResetError("the connection was closed"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, not an assertion: uvloop's transports have the methods but not the class.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(ConnectionResetError("the peer closed the connection") if exc is None else exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._target[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled < len(self._target):
            return
        if self._target is self._length:
            size = _LENGTH.unpack(self._length)[0]
            if not 0 < size <= ANSWER_BYTES_MAX:
                self.close()
                return
            self._target, self._filled = memoryview(bytearray(size)), 0
            return
        whole, self._target, self._filled = self._target, self._length, 0
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(whole)

    def eof_received(self) -> bool:
        return False

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
