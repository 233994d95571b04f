"""Stands before the application of a service: finds out who a request is from, and lets nobody else in."""

import asyncio
import base64
import binascii
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from moldau.core.errors import ConfigError
from moldau.services.listening import Address
from moldau.services.security.https import Https
from moldau.services.security.keys import BASIC
from moldau.services.security.logins import UsersFile

ANONYMOUS: Final = "User:ANONYMOUS"
PRINCIPAL: Final = "moldau.principal"
"""Where an application finds the caller in the scope of a request, as `User:name`."""
CERTIFICATE_PRINCIPAL: Final = "moldau.certificate_principal"
REFUSED_S: Final = 0.1
"""A failed login waits so long for its answer, as in Kafka: guessing takes time."""
REFRESH_S: Final = 5.0

log = logging.getLogger("moldau.services")

Refusal = Callable[[int, str], bytes]
"""(status, message) -> the body of an answer, as JSON."""


def plain_refusal(status: int, message: str) -> bytes:
    return orjson.dumps({"error_code": status, "message": message})


class Security:
    """TLS and logins of one service, from its settings. Made before it listens, so that mistakes are known."""

    def __init__(
        self,
        values: Mapping[str, Any],
        address: Address,
        *,
        refusal: Refusal = plain_refusal,
        protocols: Sequence[str] = ("http/1.1",),
    ) -> None:
        """`values` are those of `HttpSecurity.security`. `protocols` are offered to clients of HTTPS, the best first.
        Raises ConfigError."""
        self.refusal = refusal
        self.realm: str = values["authentication.realm"]
        self.open_paths = frozenset(values["authentication.skip.paths"])
        self.https = Https(values, [*protocols]) if address.scheme == "https" else None
        self.users: UsersFile | None = None
        if values["authentication.method"] == BASIC:
            self.users = UsersFile(values["authentication.users.file"], values["authentication.roles"])
            if self.https is None:
                log.warning("passwords travel unencrypted to %s: use https", address)

    def refresh(self) -> None:
        """Takes over changed files. Blocks while it reads."""
        if self.https is not None:
            self.https.refresh()
        if self.users is not None:
            try:
                self.users.refresh()
            except ConfigError as error:
                log.error("the users stay as they were: %s", error)

    async def keep_fresh(self) -> None:
        """Until it is cancelled."""
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(REFRESH_S)
                await asyncio.to_thread(self.refresh)


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, security: Security) -> None:
        self._app, self._security = app, security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = self._principal(scope)
        if principal is None and scope.get("path") not in self._security.open_paths:
            await self._refuse(scope, receive, send)
            return
        scope[PRINCIPAL] = principal or ANONYMOUS
        await self._app(scope, receive, send)

    def _principal(self, scope: Scope) -> str | None:
        """None: a login is needed, and there is none that is right."""
        users = self._security.users
        if users is None:
            shown: str | None = scope.get(CERTIFICATE_PRINCIPAL)
            return shown or ANONYMOUS
        found = _credentials(scope)
        return f"User:{found[0]}" if found is not None and users.allows(*found) else None

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = (scope.get("client") or ("",))[0]
        log.warning("refused a request of %s to %s: no login, or a wrong one", client, scope.get("path"))
        await asyncio.sleep(REFUSED_S)
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "Unauthorized"})
            return
        body = self._security.refusal(401, "Unauthorized")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"www-authenticate", f'Basic realm="{self._security.realm}"'.encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _credentials(scope: Scope) -> tuple[str, str] | None:
    """Name and password of the header."""
    for name, value in scope.get("headers", ()):
        if name == b"authorization":
            kind, _, text = value.partition(b" ")
            return _decoded(text) if kind.lower() == b"basic" else None
    return None


def _decoded(text: bytes) -> tuple[str, str] | None:
    try:
        name, separator, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if separator else None
