"""The ASGI application: one error boundary. Handlers see a `Call`, run on threads, and return an `Answer`."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import parse_qs

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moldau.pipeline.connect.server.failures import (
    SERVER_ERROR,
    TIMED_OUT,
    TOO_LARGE,
    UNAVAILABLE,
    UNSUPPORTED_TYPE,
    RequestFailure,
)
from moldau.pipeline.connect.server.http import connector_handlers, plugin_handlers, worker_handlers
from moldau.pipeline.connect.server.http.call import Answer, Call, refusal
from moldau.pipeline.connect.server.http.routing import find, methods_of
from moldau.pipeline.connect.server.service import ConnectService
from moldau.services.security.access import access_of

THREADS: Final = 32
BODY_S_MAX: Final = 60.0
JSON: Final = "application/json"
WITHOUT_STORE: Final = frozenset({"/", "/health", "/metrics"})
"""Paths that answer also when the topics cannot be read any more."""
ROUTES: Final = [*connector_handlers.ROUTES, *plugin_handlers.ROUTES, *worker_handlers.ROUTES]
METHODS_ALLOWED: Final = "GET, POST, HEAD"
"""Of other origins, where the settings name none, as in Kafka Connect."""

log = logging.getLogger("moldau.connect")


class ConnectApp:
    def __init__(self, service: ConnectService) -> None:
        self._service = service
        self._settings = service.settings
        self._threads = ThreadPoolExecutor(THREADS, "connect-request")

    def close(self) -> None:
        """After the last request."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except ClientDisconnect:
            return
        await self._response(request, answer)(scope, receive, send)

    async def _answer(self, request: Request) -> Answer:
        path = (request.scope.get("raw_path") or request.scope["path"].encode()).decode("latin-1")
        path = path.partition("?")[0]
        try:
            if request.method == "OPTIONS" and (methods := methods_of(ROUTES, path)):
                return Answer(headers={"Allow": ", ".join(methods)})
            match = find(ROUTES, request.method, path)
            if (problem := self._service.member.problem) is not None and path not in WITHOUT_STORE:
                raise RequestFailure(UNAVAILABLE, f"The worker cannot answer: {problem}")
            query = parse_qs(request.url.query, keep_blank_values=True)
            access = access_of(request.scope)
            call = Call(self._service, match.parameters, query, await self._body(request), access)
            # A client that disconnects does not cancel a running change.
            work = asyncio.get_running_loop().run_in_executor(self._threads, match.handler, call)
            return await asyncio.shield(work)
        except RequestFailure as failure:
            return refusal(failure)
        except ClientDisconnect:
            raise
        except Exception:  # The error boundary: one request fails, the worker continues.
            log.exception("%s %s failed", request.method, path)
            text = "The worker failed to answer because of an error of its own: see its log for the reason."
            return refusal(RequestFailure(SERVER_ERROR, text))

    async def _body(self, request: Request) -> bytes:
        bytes_max = self._settings.request_bytes_max
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_S_MAX):
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > bytes_max:
                        raise RequestFailure(
                            TOO_LARGE,
                            f"The request is larger than {bytes_max:,} bytes (rest.max.request.bytes).",
                        )
                    chunks.append(chunk)
        except TimeoutError:
            raise RequestFailure(
                TIMED_OUT, f"The body of the request did not come within {BODY_S_MAX:.0f} s."
            ) from None
        if size:
            _check_content_type(request.headers.get("content-type"))
        return b"".join(chunks)

    def _response(self, request: Request, answer: Answer) -> Response:
        headers = {**answer.headers, **self._cross_origin(request)}
        if answer.content is None:
            return Response(status_code=answer.status, headers=headers)
        if isinstance(answer.content, bytes):
            return Response(answer.content, answer.status, headers=headers)
        return Response(orjson.dumps(answer.content), answer.status, headers=headers, media_type=JSON)

    def _cross_origin(self, request: Request) -> dict[str, str]:
        origins = [one.strip() for one in self._settings.cors_origins.split(",") if one.strip()]
        origin = request.headers.get("origin")
        if origin is None or not origins or ("*" not in origins and origin not in origins):
            return {}
        found = {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        if request.method == "OPTIONS":
            found["Access-Control-Allow-Methods"] = self._settings.cors_methods or METHODS_ALLOWED
            if asked := request.headers.get("access-control-request-headers"):
                found["Access-Control-Allow-Headers"] = asked
        return found


def _check_content_type(header: str | None) -> None:
    """Without a Content-Type the body may be anything, as in a servlet container."""
    if header is not None and header.partition(";")[0].strip().lower() not in (
        JSON,
        "application/octet-stream",
    ):
        raise RequestFailure(
            UNSUPPORTED_TYPE, f"HTTP 415 Unsupported Media Type: {header}. Send Content-Type: {JSON}"
        )
