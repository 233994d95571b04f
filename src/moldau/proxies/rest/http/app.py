"""The ASGI application: one error boundary, one way to answer. Handlers see a `Call` and nothing else of HTTP."""

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Final

import orjson
from confluent_kafka import KafkaException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from moldau.proxies.rest.failures import RestFailure, of_kafka
from moldau.proxies.rest.http.answers import JSON, V2, Answer, Streamed
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.negotiation import PRODUCED, UNNAMED, V1, choose
from moldau.proxies.rest.http.routing import Router

if TYPE_CHECKING:
    from moldau.proxies.rest.users import UserProxies

CLOSING: Final = frozenset({408, 413})
"""Answers that may come before the body was read: the connection cannot be used again."""
UNAUTHORIZED: Final = 401
OPEN_TO_ALL: Final = frozenset({"/", "/openapi.json", "/metrics", "/health", "/try"})
"""Paths that ask nothing of Kafka in the name of a user."""
UNNEGOTIATED: Final = frozenset(
    {"/", "/openapi.json", "/metrics", "/health", "/events", "/try", "/produce", "/poll"}
)
"""Paths whose answers have one type, whatever is asked for."""

log = logging.getLogger("moldau.rest")


class RestApp:
    """Answers every request, whatever happens."""

    def __init__(self, users: "UserProxies", router: Router) -> None:
        self._users = users
        self._metrics = users.shared.metrics
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        begun = time.perf_counter()
        call = Call(self._users.shared, scope, receive)
        route, content_type = "", JSON
        try:
            match = self._router.find(scope["method"], scope.get("raw_path") or scope["path"].encode())
            call.parameters = match.parameters
            route = match.route.path
            content_type = _content_type(call, route)
            if route not in OPEN_TO_ALL:
                call.proxy = await self._users.of(
                    call.headers.get("authorization"), (scope.get("client") or ("",))[0]
                )
            answer = await self._users.answer(call.proxy, match.route.handler(call))
        except ClientDisconnect:
            return
        except (RestFailure, KafkaException) as failure:
            answer = refusal(failure)
        except Exception:  # The error boundary: one request fails, the server continues.
            log.exception("%s %s failed", scope["method"], scope["path"])
            answer = refusal(RestFailure(500, "Internal Server Error: see the proxy's log for details."))
        self._metrics.answered(scope["method"], route, answer.status, time.perf_counter() - begun)
        if isinstance(answer, Streamed):
            await self._stream(answer, content_type, send)
            return
        headers = [(b"content-length", str(len(answer.body)).encode())]
        if answer.status != 204:
            headers.append((b"content-type", (answer.content_type or content_type).encode()))
        if answer.status in CLOSING:
            headers.append((b"connection", b"close"))
        if answer.status == UNAUTHORIZED:
            headers.append((b"www-authenticate", b'Basic realm="Kafka"'))
        if answer.allowed is not None:
            headers.append((b"allow", answer.allowed.encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else answer.body
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, answer: Streamed, content_type: str, send: Send) -> None:
        assert answer.pieces is not None
        headers = [
            (b"content-type", (answer.content_type or content_type).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        try:
            async with contextlib.aclosing(answer.pieces) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        except ClientDisconnect:
            return
        except Exception:  # The head is sent: the answer ends early, which the client sees.
            log.exception("an answer ended early")
            raise
        await send({"type": "http.response.body", "body": b""})


def refusal(failure: RestFailure | KafkaException) -> Answer:
    found = failure if isinstance(failure, RestFailure) else of_kafka(failure)
    return Answer(
        orjson.dumps({"error_code": found.code, "message": found.message}),
        found.status,
        allowed=found.allowed,
    )


def _content_type(call: Call, route: str) -> str:
    """Of the answer. Raises RestFailure 406."""
    if route.startswith("/v3/"):
        return JSON
    if route in UNNEGOTIATED:
        return JSON
    accept = call.headers.get("accept")
    if accept is None:
        return V2
    found = choose(accept, PRODUCED)
    return found if found in (JSON, V2, V1, UNNAMED) else V2
