"""`/inserts-stream`: rows come line by line, and each is acknowledged when its topic has it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from moldau.core.errors import MoldauError
from moldau.pipeline.sql.server.failures import BAD_STATEMENT, SERVER_ERROR, ServiceFailure, bad_statement
from moldau.pipeline.sql.server.http.bodies import InsertTarget, read_insert_target, read_row
from moldau.pipeline.sql.server.http.call import Call
from moldau.pipeline.sql.server.http.failures import bad_request, too_large
from moldau.pipeline.sql.server.http.negotiation import INSERTS, JSON, check_content_type
from moldau.pipeline.sql.server.http.routing import Route
from moldau.pipeline.sql.server.http.rows import json_bytes
from moldau.pipeline.sql.server.inserting import target_of
from moldau.pipeline.sql.server.service import SqlService
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.security.roles.model import Action

OUTSTANDING_MAX: Final = 1_000
"""Rows that wait for their acknowledgement. The client's next rows wait in its connection."""

log = logging.getLogger("moldau.sql")


async def insert_rows(call: Call) -> ASGIApp:
    accepted = call.accepted(INSERTS)
    call.require(Action.WRITE)
    check_content_type(call.request.headers.get("content-type"))
    lines = _lines(call.request.stream(), call.service.settings.request_bytes_max)
    async for line in lines:
        return _InsertResponse(call.service, _checked(read_insert_target(line), call), lines, accepted)
    raise bad_request('Invalid JSON in request: the first line must be an object with the field "target".')


def _checked(target: InsertTarget, call: Call) -> InsertTarget:
    """A stream that is not there is an error of the request, not of a row."""
    try:
        target_of(call.service.catalog, target.name)
    except SqlError as wrong:
        raise bad_statement(wrong, f"INSERT INTO {target.name}") from wrong
    return target


async def _lines(chunks: AsyncIterator[bytes], bytes_max: int) -> AsyncIterator[bytes]:
    """The lines that are not empty; the last may lack its end."""
    rest = b""
    async for chunk in chunks:
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            if line.strip():
                yield line
        if len(rest) > bytes_max:
            raise too_large(bytes_max)
    if rest.strip():
        yield rest


class _InsertResponse:
    """An ASGI application for one request."""

    def __init__(
        self, service: SqlService, target: InsertTarget, lines: AsyncIterator[bytes], content_type: str
    ) -> None:
        self._service = service
        self._target = target
        self._lines = lines
        self._content_type = content_type
        self._sent: asyncio.Queue[asyncio.Future[None] | ServiceFailure | None] = asyncio.Queue(
            OUTSTANDING_MAX
        )
        """In the order of the rows; None: there are no more."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", self._content_type.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        reader = asyncio.create_task(self._send_rows())
        is_array = self._content_type == JSON
        separator, end = (b"[", b"]") if is_array else (b"", b"")
        try:
            async for ack in self._acknowledged():
                piece = separator + json_bytes(ack) + (b"" if is_array else b"\n")
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                separator = b"," if is_array else b""
            closing = b"[]" if separator == b"[" else end
            await send({"type": "http.response.body", "body": closing, "more_body": False})
        finally:
            reader.cancel()

    async def _send_rows(self) -> None:
        try:
            async for line in self._lines:
                row = read_row(line)
                sent = self._service.send(self._target.name, row, self._target.properties)
                await self._sent.put(sent)
        except MoldauError as failure:
            await self._sent.put(_as_service_failure(failure))
        except ClientDisconnect:
            pass
        except Exception:  # The error boundary: the stream ends with an error.
            log.exception("a row for %s could not be inserted", self._target.name)
            await self._sent.put(
                ServiceFailure(SERVER_ERROR, "The row could not be inserted. Look at the server's log.")
            )
        await self._sent.put(None)

    async def _acknowledged(self) -> AsyncIterator[dict[str, Any]]:
        """One for each row in their order. The first error is the last."""
        sequence = 0
        while (sent := await self._sent.get()) is not None:
            failure = await _failure_of(sent)
            if failure is not None:
                yield _error(failure, sequence)
                return
            yield {"status": "ok", "seq": sequence}
            sequence += 1


async def _failure_of(sent: "asyncio.Future[None] | ServiceFailure") -> ServiceFailure | None:
    if isinstance(sent, ServiceFailure):
        return sent
    try:
        await sent
    except MoldauError as failure:
        return _as_service_failure(failure)
    return None


def _as_service_failure(failure: MoldauError) -> ServiceFailure:
    if isinstance(failure, ServiceFailure):
        return failure
    return ServiceFailure(BAD_STATEMENT if isinstance(failure, SqlError) else SERVER_ERROR, str(failure))


def _error(failure: ServiceFailure, sequence: int) -> dict[str, Any]:
    return {
        "@type": "generic_error",
        "error_code": failure.code,
        "message": failure.message,
        "seq": sequence,
        "status": "error",
    }


ROUTES = [Route("POST", "/inserts-stream", insert_rows)]
