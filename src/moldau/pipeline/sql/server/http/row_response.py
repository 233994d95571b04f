"""The answer of a running query: rows are sent as they come, and the query ends when the client goes away."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.types import Message, Receive, Scope, Send

from moldau.pipeline.sql.queries import End, EndReason, RowStream
from moldau.pipeline.sql.server.http.writers import Writer

IDLE_S: Final = 1.0
STALL_S_MAX: Final = 120.0
"""How long a client may read nothing of what was sent to it before its query ends."""

log = logging.getLogger("moldau.sql")


class RowResponse:
    """An ASGI application for one request."""

    def __init__(self, stream: RowStream, writer: Writer) -> None:
        self._stream = stream
        self._writer = writer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = asyncio.create_task(self._close_when_gone(receive))
        try:
            await self._send_all(_Body(send, is_split=self._writer.is_read_by_chunk and _is_http2(scope)))
        except TimeoutError:
            log.warning(
                "query %s ends: its client has read nothing for %.0f s", self._stream.query_id, STALL_S_MAX
            )
        finally:
            watcher.cancel()
            self._stream.close()

    async def _close_when_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._stream.close()

    async def _send_all(self, body: "_Body") -> None:
        writer = self._writer
        await body.start(writer.content_type)
        if self._stream.end is None:
            # A query that runs on: the header is sent before there is a row.
            await body.add([writer.begin()])
        else:
            body.hold(writer.begin())
        async for batch in batches(self._stream, IDLE_S if writer.idle else None):
            await body.add(list(writer.rows(batch)) if batch else [writer.idle])
        await body.finish(writer.finish(self._stream.end or End(EndReason.COMPLETE)))


class _Body:
    """The body of one response, piece by piece. Every send must be done in time."""

    def __init__(self, send: Send, *, is_split: bool) -> None:
        self._send = send
        self._is_split = is_split
        self._held = b""

    async def start(self, content_type: str) -> None:
        headers = [(b"content-type", content_type.encode())]
        await self._sent({"type": "http.response.start", "status": 200, "headers": headers})

    def hold(self, piece: bytes) -> None:
        """Sent with the next pieces."""
        self._held += piece

    async def add(self, pieces: list[bytes]) -> None:
        held, self._held = self._held, b""
        if self._is_split:
            for piece in filter(None, [held, *pieces]):
                await self._part(piece)
        else:
            await self._part(b"".join([held, *pieces]))

    async def finish(self, piece: bytes) -> None:
        held, self._held = self._held, b""
        await self._sent({"type": "http.response.body", "body": held + piece, "more_body": False})

    async def _part(self, piece: bytes) -> None:
        await self._sent({"type": "http.response.body", "body": piece, "more_body": True})

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
