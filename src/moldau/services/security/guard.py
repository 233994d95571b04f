"""Stands before the application of a service: finds out who a request is from, and lets nobody else in."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from moldau.core.errors import ConfigError
from moldau.security.access.authorizer_settings import parse_super_users
from moldau.security.sasl.exchange import shown
from moldau.services.listening import Address
from moldau.services.security.access import ACCESS, ANONYMOUS, Access
from moldau.services.security.basic import credentials
from moldau.services.security.checked_logins import CheckedLogins, LoginsUnavailable, WrongLogin
from moldau.services.security.cluster_logins import ClusterLogins
from moldau.services.security.followed_rights import FollowedRights
from moldau.services.security.https import Https
from moldau.services.security.keys import ANY_ROLE, BASIC, BEARER, CLUSTER, NONE
from moldau.services.security.logins import UsersFile
from moldau.services.security.tokens import Tokens

PRINCIPAL: Final = "moldau.principal"
"""Where an application finds the caller in the scope of a request, as `User:name`."""
CERTIFICATE_PRINCIPAL: Final = "moldau.certificate_principal"
REFUSED_S: Final = 0.1
"""A failed login waits so long for its answer, as in Kafka: guessing takes time."""
REFRESH_S: Final = 5.0
TOKEN_KEPT_S: Final = 60.0
"""How long a token that was right is taken without a check, if it lives as long."""
PASSWORD_KEPT_S: Final = 30.0
"""The same of a password that the cluster knows: so long a removed user is still let in."""
UNAUTHORIZED: Final = 401
UNAVAILABLE: Final = 503
RIGHTS_UNKNOWN: Final = LoginsUnavailable(
    "The service does not know the rights of its users yet. Try again in a moment; its log says what keeps it."
)

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
        client: Mapping[str, Any] | None = None,
        refusal: Refusal = plain_refusal,
        protocols: Sequence[str] = ("http/1.1",),
    ) -> None:
        """`values` are those of `HttpSecurity.security`, `client` the settings of the service's own clients of Kafka.
        `protocols` are offered to clients of HTTPS, the best first. Raises ConfigError."""
        self.refusal = refusal
        self.realm: str = values["authentication.realm"]
        self.open_paths = frozenset(values["authentication.skip.paths"])
        self.https = Https(values, [*protocols]) if address.scheme == "https" else None
        methods = values["authentication.method"]
        if NONE in methods and len(methods) > 1:
            raise ConfigError("authentication.method: NONE goes with no other method")
        self.users: UsersFile | None = None
        self._warned_of: int | None = None
        self.checked: dict[bytes, CheckedLogins] = {}
        """Logins whose check takes time, by the word that they begin with."""
        if BASIC in methods and values["authentication.users"] == CLUSTER:
            if values["authentication.users.file"] or tuple(values["authentication.roles"]) != ANY_ROLE:
                raise ConfigError(
                    "authentication.users.file and authentication.roles belong to authentication.users=FILE; with "
                    "CLUSTER the users are those of the cluster"
                )
            self.checked[b"basic"] = CheckedLogins(ClusterLogins(values, client).caller, PASSWORD_KEPT_S)
        elif BASIC in methods:
            self.users = UsersFile(values["authentication.users.file"], values["authentication.roles"])
            self._warn_of_readers(self.users)
        if BEARER in methods:
            self.checked[b"bearer"] = CheckedLogins(Tokens(values).caller, TOKEN_KEPT_S)
        self.needs_login = BASIC in methods or BEARER in methods
        self.challenges = [
            f'{word} realm="{self.realm}"'.encode()
            for word, method in (("Basic", BASIC), ("Bearer", BEARER))
            if method in methods
        ]
        """What clients are told of how to log in."""
        if self.needs_login and self.https is None:
            log.warning("passwords and tokens travel unencrypted to %s: use https", address)
        self.rights = self._rights(values, client)
        self.super_users = parse_super_users(values.get("super.users", ""))

    def _rights(self, values: Mapping[str, Any], client: Mapping[str, Any] | None) -> FollowedRights | None:
        """None: every caller may do everything."""
        if not values.get("authorization.enabled", False):
            return None
        if not self.needs_login and (self.https is None or values["ssl.client.authentication"] == NONE):
            raise ConfigError(
                "authorization.enabled=true needs to know the callers: set authentication.method, or "
                "ssl.client.authentication=REQUIRED"
            )
        assert client is not None
        return FollowedRights(client)

    def start(self) -> None:
        """Before the first request. Blocks until the rights are known, or for a while."""
        if self.rights is not None:
            self.rights.start()

    def close(self) -> None:
        """After the last request. Blocks."""
        if self.rights is not None:
            self.rights.stop()
        for each in self.checked.values():
            each.close()

    def refresh(self) -> None:
        """Takes over changed files. Blocks while it reads."""
        if self.https is not None:
            self.https.refresh()
        if self.users is not None:
            try:
                self.users.refresh()
            except ConfigError as error:
                log.error("the users stay as they were: %s", error)
            self._warn_of_readers(self.users)

    def _warn_of_readers(self, users: UsersFile) -> None:
        """Once for each mode that the file has."""
        mode = users.exposed_mode()
        if mode is not None and mode != self._warned_of:
            log.warning(
                "authentication.users.file %s has passwords and the mode %03o, with which others on this machine read "
                "or change it: chmod 600 %s",
                users.path,
                mode,
                users.path,
            )
        self._warned_of = mode

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
        is_open = scope.get("path") in self._security.open_paths
        if principal is None and not is_open:
            try:
                principal = await self._checked(scope)
            except (WrongLogin, LoginsUnavailable) as why:
                await self._refuse(scope, receive, send, why)
                return
        principal = principal or ANONYMOUS
        asks_nothing = is_open or principal in self._security.super_users
        rights = None if asks_nothing else self._security.rights
        if rights is not None and not rights.is_loaded:
            await self._refuse(scope, receive, send, RIGHTS_UNKNOWN)
            return
        scope[PRINCIPAL] = principal
        scope[ACCESS] = Access(principal, rights)
        await self._app(scope, receive, send)

    def _principal(self, scope: Scope) -> str | None:
        """What is known at once. None: there is no login, or it must be checked."""
        security = self._security
        if not security.needs_login:
            shown_principal: str | None = scope.get(CERTIFICATE_PRINCIPAL)
            return shown_principal or ANONYMOUS
        kind, text = _authorization(scope)
        if (checked := security.checked.get(kind)) is not None:
            return checked.known(text)
        if kind == b"basic" and security.users is not None:
            found = credentials(text)
            if found is not None and security.users.allows(*found):
                return f"User:{found[0]}"
        return None

    async def _checked(self, scope: Scope) -> str:
        """Raises WrongLogin or LoginsUnavailable."""
        kind, text = _authorization(scope)
        if (checked := self._security.checked.get(kind)) is not None:
            return await checked.principal(text)
        if kind == b"basic" and self._security.users is not None:
            raise WrongLogin(_wrong_user(text))
        raise WrongLogin("no login" if not kind else "the service does not take such a login")

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, why: Exception) -> None:
        client, path = (scope.get("client") or ("",))[0], shown(str(scope.get("path")))
        log.warning("refused a request of %s to %s: %s", client, path, why)
        is_wrong = isinstance(why, WrongLogin)
        if is_wrong:
            await asyncio.sleep(REFUSED_S)
        if scope["type"] == "websocket":
            await receive()
            code, reason = (1008, "Unauthorized") if is_wrong else (1013, "Try again later")
            await send({"type": "websocket.close", "code": code, "reason": reason})
            return
        status = UNAUTHORIZED if is_wrong else UNAVAILABLE
        body = self._security.refusal(status, "Unauthorized" if is_wrong else str(why))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if is_wrong:
            headers += [(b"www-authenticate", each) for each in self._security.challenges]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _wrong_user(text: bytes) -> str:
    """Why a name and a password of the users file are refused."""
    found = credentials(text)
    if found is None:
        return "the login is not of the form NAME:PASSWORD in Base64"
    return f"the user {shown(found[0])} does not exist, has another password or none of authentication.roles"


def _authorization(scope: Scope) -> tuple[bytes, bytes]:
    """The kind of a login, in lower case, and its text; empty without one."""
    for name, value in scope.get("headers", ()):
        if name == b"authorization":
            kind, _, text = value.partition(b" ")
            return kind.lower(), text.strip()
    return b"", b""
