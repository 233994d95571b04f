"""The ASGI application: one error boundary. Handlers see a `Call` and return what answers it."""

import logging
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http import (
    insert_handlers,
    query_handlers,
    statement_handlers,
    status_handlers,
    websocket,
)
from moldau.pipeline.sql.server.http.call import Call, json_response
from moldau.pipeline.sql.server.http.failures import error_object, internal_error
from moldau.pipeline.sql.server.http.routing import find
from moldau.pipeline.sql.server.service import SqlService

ROUTES: Final = [
    *statement_handlers.ROUTES,
    *query_handlers.ROUTES,
    *insert_handlers.ROUTES,
    *status_handlers.ROUTES,
]

log = logging.getLogger("moldau.sql")


class SqlApp:
    def __init__(self, service: SqlService) -> None:
        self._service = service

    def close(self) -> None:
        """After the last request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await websocket.serve(self._service, scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        call = Call(self._service, request, {})
        try:
            answer = await self._answer(call)
        except ClientDisconnect:
            return
        await answer(scope, receive, send)

    async def _answer(self, call: Call) -> ASGIApp:
        scope = call.request.scope
        try:
            match = find(ROUTES, scope["method"], scope.get("raw_path") or scope["path"].encode())
            call.parameters = match.parameters
            return await match.handler(call)
        except ServiceFailure as failure:
            return _refusal(failure, call)
        except ClientDisconnect:
            raise
        except Exception:  # The error boundary: one request fails, the server continues.
            log.exception("%s %s failed", scope["method"], scope["path"])
            return _refusal(internal_error(), call)


def _refusal(failure: ServiceFailure, call: Call) -> Response:
    return json_response(error_object(failure, call.entity), failure.status)
