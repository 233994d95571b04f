"""The answer of a running query: rows are sent as they come, and the query ends when the client goes away."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from starlette.types import Message, Receive, Scope, Send

from moldau.pipeline.sql.queries import End, EndReason, RowStream
from moldau.pipeline.sql.server.http.writers import Writer

IDLE_S: Final = 1.0
PART_BYTES_MAX: Final = 256 << 10
STALL_S_MAX: Final = 120.0
"""How long a client may read nothing of what was sent to it before its query ends."""

log = logging.getLogger("moldau.sql")


class RowResponse:
    """An ASGI application for one request."""

    def __init__(self, stream: RowStream, writer: Writer) -> None:
        self._stream = stream
        self._writer = writer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_over = self._stream.end is not None
        # A query that is over, as a lookup by key, has nothing that a leaving client could end.
        watcher = None if is_over else asyncio.create_task(self._close_when_gone(receive))
        try:
            await self._send_all(_Body(send, is_split=self._writer.is_read_by_chunk and _is_http2(scope)))
        except TimeoutError:
            log.warning(
                "query %s ends: its client has read nothing for %.0f s", self._stream.query_id, STALL_S_MAX
            )
        finally:
            if watcher is not None:
                watcher.cancel()
            self._stream.close()

    async def _close_when_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._stream.close()

    async def _send_all(self, body: "_Body") -> None:
        writer = self._writer
        await body.start(writer.content_type)
        body.add([writer.begin()])
        if self._stream.end is None:
            # The header is sent before there is a row.
            await body.flush()
        async for batch in batches(self._stream, IDLE_S if writer.idle else None):
            body.add(writer.rows(batch) if batch else [writer.idle])
            if self._stream.end is None or body.is_large:
                await body.flush()
        await body.finish(writer.finish(self._stream.end or End(EndReason.COMPLETE)))


class _Body:
    """The body of one response, in pieces. Every send must be done in time."""

    def __init__(self, send: Send, *, is_split: bool) -> None:
        self._send = send
        self._is_split = is_split
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def is_large(self) -> bool:
        return self._size > PART_BYTES_MAX

    def add(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            self._pieces.append(piece)
            self._size += len(piece)

    async def start(self, content_type: str) -> None:
        headers = [(b"content-type", content_type.encode())]
        await self._sent({"type": "http.response.start", "status": 200, "headers": headers})

    async def flush(self) -> None:
        for part in self._taken():
            await self._sent({"type": "http.response.body", "body": part, "more_body": True})

    async def finish(self, piece: bytes) -> None:
        self.add([piece])
        *parts, last = self._taken() or [b""]
        for part in parts:
            await self._sent({"type": "http.response.body", "body": part, "more_body": True})
        await self._sent({"type": "http.response.body", "body": last, "more_body": False})

    def _taken(self) -> list[bytes]:
        """What each message holds: one piece, or all of them."""
        pieces = [piece for piece in self._pieces if piece]
        self._pieces, self._size = [], 0
        return pieces if self._is_split or not pieces else [b"".join(pieces)]

    async def _sent(self, message: Message) -> None:
        async with asyncio.timeout(STALL_S_MAX):
            await self._send(message)


async def batches(stream: RowStream, idle_s: float | None) -> AsyncIterator[list[Any]]:
    """Batches of rows; an empty one whenever nothing has come for `idle_s`."""
    while True:
        try:
            async with asyncio.timeout(idle_s):
                batch = await anext(stream)
        except TimeoutError:
            yield []
        except StopAsyncIteration:
            return
        else:
            yield batch


def _is_http2(scope: Scope) -> bool:
    return bool(scope["http_version"] == "2")
