"""The ASGI application: one error boundary, one way to answer. Handlers see a `Call` and nothing else of HTTP."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moldau.registry.failures import NotPrimary, RegistryFailure
from moldau.registry.http import association_handlers, governance_handlers, schema_handlers, subject_handlers
from moldau.registry.http.call import Call, RawText
from moldau.registry.http.forwarding import (
    FORWARDED_HEADER,
    Outgoing,
    Tls,
    forward,
    refuse_second_forward,
)
from moldau.registry.http.negotiation import V1, check_content_type, choose_content_type
from moldau.registry.http.routing import Router, in_context, split_path
from moldau.registry.service import Registry
from moldau.services.security.access import access_of

PARSERS_MAX: Final = 4
FORWARDS_MAX: Final = 64
ROUTES: Final = [
    *subject_handlers.ROUTES,
    *schema_handlers.ROUTES,
    *governance_handlers.ROUTES,
    *association_handlers.ROUTES,
]

log = logging.getLogger("moldau.registry")


class RegistryApp:
    def __init__(self, registry: Registry, tls: Tls = None) -> None:
        """`tls` is for requests to other instances."""
        self._registry = registry
        self._tls = tls
        self._router = Router(ROUTES)
        self._parsers = ThreadPoolExecutor(PARSERS_MAX, "registry-parser")
        self._forwards = ThreadPoolExecutor(FORWARDS_MAX, "registry-forward")

    def close(self) -> None:
        self._parsers.shutdown(wait=False, cancel_futures=True)
        self._forwards.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        content_type = V1
        try:
            content_type = choose_content_type(request.headers.get("accept"))
            return await self._handled(request, content_type)
        except RegistryFailure as failure:
            return _refusal(failure, content_type)
        except Exception:  # The error boundary: one request fails, the server continues.
            log.exception("%s %s failed", request.method, request.url.path)
            unknown = RegistryFailure(500, "Internal Server Error: see the registry's log for details.")
            return _refusal(unknown, content_type)

    async def _handled(self, request: Request, content_type: str) -> Response:
        raw_path = request.scope.get("raw_path") or request.url.path.encode()
        query_lists = parse_qs(request.url.query, keep_blank_values=True)
        segments, query = in_context(
            split_path(raw_path), {name: values[0] for name, values in query_lists.items()}
        )
        match = self._router.find(request.method, segments)
        body = await self._read(request)
        call = Call(
            self._registry,
            match.parameters,
            query,
            query_lists,
            body,
            request.headers.get("confluent-accept-unknown-properties", "").lower() == "true",
            self._run,
            self._written,
            access_of(request.scope),
        )
        while True:
            try:
                return _response(await match.handler(call), content_type)
            except NotPrimary:
                forwarded = await self._forwarded(request, body)
                if forwarded is not None:
                    return forwarded

    async def _read(self, request: Request) -> bytes:
        bytes_max = self._registry.settings.request_bytes_max
        chunks: list[bytes] = []
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > bytes_max:
                raise RegistryFailure(
                    413,
                    f"The request is larger than {bytes_max:,} bytes (size.limit.filter.max.request.body.size).",
                )
            chunks.append(chunk)
        if size:
            check_content_type(request.headers.get("content-type"))
        return b"".join(chunks)

    async def _run(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._parsers, work)

    async def _written(self, future: "Future[Any]") -> Any:
        # A client that disconnects does not cancel a running write.
        return await asyncio.shield(asyncio.wrap_future(future))

    async def _forwarded(self, request: Request, body: bytes) -> Response | None:
        if request.headers.get(FORWARDED_HEADER):
            raise refuse_second_forward()
        target = (request.scope.get("raw_path") or request.url.path.encode()).decode("latin-1")
        if request.url.query:
            target = f"{target}?{request.url.query}"
        outgoing = Outgoing(request.method, target, dict(request.headers), body)
        answer = await asyncio.get_running_loop().run_in_executor(
            self._forwards, partial(forward, self._registry, self._tls, outgoing)
        )
        if answer is None:
            return None
        return Response(answer.body, answer.status, media_type=answer.content_type)


def _response(answer: Any, content_type: str) -> Response:
    if answer is None:
        return Response(status_code=204)
    body = answer.encode() if isinstance(answer, RawText) else orjson.dumps(answer)
    return Response(body, media_type=content_type)


def _refusal(failure: RegistryFailure, content_type: str) -> Response:
    body: dict[str, Any] = {"error_code": failure.code, "message": failure.message}
    if failure.clashes:
        body["clashes"] = failure.clashes
    return Response(orjson.dumps(body), failure.status, media_type=content_type)
