"""`/ws/query`: the schema, then a row a message, for old consoles and command lines."""

import asyncio
import logging
from typing import Any, Final

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from moldau.pipeline.sql.queries import Tombstone
from moldau.pipeline.sql.queries.row_stream import COMPLETE
from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http.bodies import read_statements
from moldau.pipeline.sql.server.http.entities.schemas import field_objects
from moldau.pipeline.sql.server.http.failures import bad_request, internal_error
from moldau.pipeline.sql.server.http.row_response import STALL_S_MAX, batches
from moldau.pipeline.sql.server.http.rows import json_bytes, row_encoder
from moldau.pipeline.sql.server.http.writers import Header, last_object, row_object
from moldau.pipeline.sql.server.requests import StartedQuery
from moldau.pipeline.sql.server.service import SqlService
from moldau.pipeline.sql.server.statement_rights import require
from moldau.pipeline.sql.types import Column
from moldau.security.roles.model import Action
from moldau.services.security.access import access_of

PATH: Final = "/ws/query"
NORMAL: Final = 1000
REFUSED: Final = 1003
FAILED: Final = 1011
REASON_BYTES_MAX: Final = 123

log = logging.getLogger("moldau.sql")


async def serve(service: SqlService, scope: Scope, receive: Receive, send: Send) -> None:
    socket = WebSocket(scope, receive, send)
    if scope["path"] != PATH:
        await socket.close(REFUSED)
        return
    await socket.accept()
    try:
        await _run(service, socket)
    except ServiceFailure as failure:
        await _close(socket, REFUSED, failure.message)
    except (WebSocketDisconnect, TimeoutError):
        return
    except Exception:  # The error boundary: one query fails, the server continues.
        log.exception("a query over %s failed", PATH)
        await _close(socket, FAILED, internal_error().message)


async def _run(service: SqlService, socket: WebSocket) -> None:
    require(access_of(socket.scope), Action.READ, service.settings.service_id)
    started = await service.start_query(read_statements(_request(socket)))
    watcher = asyncio.create_task(_close_when_gone(socket, started))
    try:
        await _send_rows(started, socket)
    finally:
        watcher.cancel()
        started.stream.close()


def _request(socket: WebSocket) -> bytes:
    version = socket.query_params.get("version", "1")
    if version != "1":
        raise bad_request(f"Received invalid api version: {version}")
    text = socket.query_params.get("request")
    if not text:
        raise bad_request("Error parsing request: missing request parameter")
    return text.encode()


async def _close_when_gone(socket: WebSocket, started: StartedQuery) -> None:
    """What a client sends is not read; that it closes is."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    started.stream.close()


async def _send_rows(started: StartedQuery, socket: WebSocket) -> None:
    stream = started.stream
    header = Header(stream.query_id, stream.columns, started.kind)
    encode = row_encoder(stream.columns)
    if started.kind != "PRINT":
        await _send(socket, field_objects(Column(one.name, one.type) for one in stream.columns))
    async for batch in batches(stream, None):
        for row in batch:
            values = encode(row)
            said = values[0] if started.kind == "PRINT" else row_object(values, isinstance(row, Tombstone))
            await _send(socket, said)
    last = last_object(stream.end or COMPLETE, header)
    if last is not None and started.kind != "PRINT":
        await _send(socket, last)
    await _close(socket, NORMAL, "done")


async def _send(socket: WebSocket, said: Any) -> None:
    async with asyncio.timeout(STALL_S_MAX):
        await socket.send_text(json_bytes(said).decode())


async def _close(socket: WebSocket, code: int, message: str) -> None:
    """The message is the last text too: a reason has little room."""
    try:
        await _send(socket, {"error": message})
        await socket.close(code, message.encode()[:REASON_BYTES_MAX].decode("utf-8", "ignore"))
    except (WebSocketDisconnect, RuntimeError):
        return
