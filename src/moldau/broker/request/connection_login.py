"""The login of one connection of a SASL listener: until it is complete, nothing else is served.

A client asks for ApiVersions if it wants to, chooses a mechanism with SaslHandshake, and exchanges the mechanism's
messages: in SaslAuthenticate after a handshake v1, as bare frames after v0 (KIP-152). A later SaslHandshake renews
the login (KIP-368). The answer to a failed login is delayed, so that passwords are not guessed quickly. Owns the
state of the login; the mechanisms are in `security.sasl`.
"""

import logging
import struct
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import PeerError
from moldau.core.ports import Cancellable
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_request_header, encode_response_header
from moldau.protocol.messages import request_class
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest
from moldau.protocol.messages.security.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from moldau.protocol.spec import Request, Response, fields_of
from moldau.security.access.model import ANONYMOUS
from moldau.security.sasl.exchange import Exchange, Login, LoginRefused, shown
from moldau.security.sasl.listener_logins import ListenerLogins

if TYPE_CHECKING:
    from moldau.broker.request.client_session import ClientSession

_log = logging.getLogger("moldau.broker")

_LENGTH: Final = struct.Struct(">i")
_HANDSHAKE: Final = struct.pack(">h", SaslHandshakeRequest.API_KEY)
"""The start of a SaslHandshake request."""
RENEWAL_INTERVAL_MS: Final = 1000
"""A login is renewed at most this often, as in Kafka."""
LOGIN_MS_MAX: Final = 60_000
"""A connection that has not logged in after this time is closed."""


class State(Enum):
    BEGUN = auto()
    """ApiVersions or SaslHandshake must come."""
    INFORMED = auto()
    """ApiVersions was answered: SaslHandshake must come."""
    EXCHANGING = auto()
    DONE = auto()
    FAILED = auto()


class CertificateLogin:
    """On a listener with TLS and without SASL, the client's certificate says who it is."""

    __slots__ = ("_session",)

    def __init__(self, session: "ClientSession") -> None:
        self._session = session

    def lets_pass(self, frame: memoryview) -> bool:
        # With the first frame, because the certificate is not known before the end of the TLS handshake.
        session = self._session
        session.login = None
        session.client.principal = session.connection.tls_principal or ANONYMOUS
        if session.broker.audit is not None:
            session.broker.audit.logged_in(session.client, "TLS")
        return True

    def on_frame(self, frame: memoryview) -> list[Chunk] | None:
        raise AssertionError("every frame passes")

    def closed(self) -> None:
        """There is nothing to end."""


class ConnectionLogin:
    __slots__ = (
        "_ends_at_ms",
        "_exchange",
        "_failure",
        "_is_gone",
        "_is_wrapped",
        "_key",
        "_logins",
        "_mechanism",
        "_previous",
        "_renewed_at_ms",
        "_session",
        "_state",
        "_time_limit",
    )

    def __init__(self, session: "ClientSession", logins: ListenerLogins) -> None:
        self._session = session
        self._logins = logins
        self._state = State.BEGUN
        self._mechanism = ""
        self._exchange: Exchange | None = None
        self._is_wrapped = True
        """Whether messages come in SaslAuthenticate."""
        self._previous: tuple[str, str] | None = None
        """Mechanism and principal of the login that is being renewed."""
        self._renewed_at_ms: int | None = None
        self._ends_at_ms: int | None = None
        self._key: str | None = None
        """The API key with which the client has logged in."""
        self._failure: str | None = None
        self._is_gone = False
        self._time_limit: Cancellable | None = session.broker.scheduler.call_later(
            LOGIN_MS_MAX, self._cut_off
        )
        session.connection.limit_frames(logins.message_bytes_max, "sasl.server.max.receive.size")

    def lets_pass(self, frame: memoryview) -> bool:
        """Whether a frame is a request of a client that has logged in, and not part of a login. PeerError if the
        login has expired, or its API key was removed."""
        if self._state is not State.DONE:
            return False
        broker = self._session.broker
        if frame[: len(_HANDSHAKE)] == _HANDSHAKE and self._may_renew(now_ms := broker.clock.monotonic_ms()):
            self._renewed_at_ms = now_ms
            self._previous = self._mechanism, self._session.client.principal
            self._logins = broker.logins.on(self._session.connection.listener)
            self._state = State.INFORMED
            return False
        if self._ends_at_ms is not None and broker.clock.monotonic_ms() > self._ends_at_ms:
            raise PeerError(
                f"the login of {shown(self._session.client.principal)} has expired and the client did not renew it "
                "(connections.max.reauth.ms, or the end of its credential)"
            )
        if self._key is not None and not self._logins.has_key(self._key):
            raise PeerError(f"the API key {shown(self._key)} with which the client has logged in was removed")
        return True

    def on_frame(self, frame: memoryview) -> list[Chunk] | None:
        if self._state is State.FAILED:
            return None
        if self._state is not State.EXCHANGING:
            return self._begin(frame)
        if not self._is_wrapped:
            return self._exchange_message(bytes(frame), None)
        header, position = decode_request_header(frame)
        if header.api_key != SaslAuthenticateRequest.API_KEY:
            self._fail(
                f"API key {header.api_key} was requested in the middle of a login",
                _failed_answer(header, ErrorCode.ILLEGAL_SASL_STATE),
            )
            return None
        _check_version(header, SaslAuthenticateRequest)
        request, _ = codec.decode(SaslAuthenticateRequest, header.api_version, frame, position)
        return self._exchange_message(bytes(request.auth_bytes), header)

    def closed(self) -> None:
        self._stop_timer()
        self._is_gone = True
        reason, self._failure = self._failure, None
        if (
            self._exchange is not None
            and self._exchange.problem is not None
            and self._state is State.EXCHANGING
        ):
            reason = f"login with {self._mechanism} failed: {self._exchange.problem}"
        if reason is not None:
            self._log_gone(reason)

    def _begin(self, frame: memoryview) -> list[Chunk] | None:
        """ApiVersions or SaslHandshake. Anything else is not even decoded."""
        header, position = decode_request_header(frame)
        if header.api_key == SaslHandshakeRequest.API_KEY:
            _check_version(header, SaslHandshakeRequest)
            request, _ = codec.decode(SaslHandshakeRequest, header.api_version, frame, position)
            self._session.client.client_id = header.client_id
            return self._choose(header, request.mechanism)
        if header.api_key == ApiVersionsRequest.API_KEY and self._state is State.BEGUN:
            if header.api_version in ApiVersionsRequest.VERSIONS:
                self._state = State.INFORMED
            return self._session.dispatch(frame)
        raise PeerError(
            f"API key {header.api_key} was requested before a login; this listener is "
            f"{self._session.connection.protocol.value}: set security.protocol and sasl.mechanism at the client"
        )

    def _choose(self, header: RequestHeader, mechanism: str) -> list[Chunk] | None:
        logins = self._logins
        answer = SaslHandshakeResponse(mechanisms=logins.mechanisms)
        if mechanism not in logins.mechanisms:
            answer = SaslHandshakeResponse(
                error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=logins.mechanisms
            )
            offered = ", ".join(logins.mechanisms)
            reason = f"the client wants to log in with {shown(mechanism)}; this listener offers {offered}"
            self._fail(reason, _framed(header, answer))
            return None
        self._mechanism = mechanism
        self._exchange = logins.begin(mechanism)
        self._is_wrapped = header.api_version >= 1
        self._state = State.EXCHANGING
        return _framed(header, answer)

    def _exchange_message(self, message: bytes, header: RequestHeader | None) -> list[Chunk] | None:
        exchange = self._exchange
        assert exchange is not None
        if exchange.is_slow(message):
            self._session.broker.scheduler.spawn(self._exchange_slowly(exchange, message, header))
            return None
        try:
            answer = self._accepted(exchange, exchange.answer(message))
        except LoginRefused as refusal:
            self._refuse(refusal, header)
            return None
        return self._reply(answer, header)

    async def _exchange_slowly(
        self, exchange: Exchange, message: bytes, header: RequestHeader | None
    ) -> None:
        connection = self._session.connection
        try:
            run = self._session.broker.logins.run_in_worker
            answered = await run(lambda: exchange.answer(message))
            answer = self._accepted(exchange, answered)
        except LoginRefused as refusal:
            self._refuse(refusal, header)
        except Exception as problem:
            connection.abort(f"a login with {self._mechanism} met an internal error: {problem!r}")
            raise
        else:
            connection.reply(self._reply(answer, header))

    def _accepted(self, exchange: Exchange, answer: bytes) -> bytes:
        """Passes the answer through; LoginRefused if a renewed login is that of somebody else."""
        if exchange.login is None:
            return answer
        principal = f"User:{exchange.login.user}"
        if self._previous is not None:
            mechanism, known = self._previous
            if mechanism != self._mechanism:
                text = (
                    f"SASL mechanism '{self._mechanism}' requested by client is not supported for "
                    f"re-authentication of mechanism '{mechanism}'"
                )
                raise LoginRefused(text, told=text)
            if principal != known:
                raise LoginRefused(
                    f"the login of {shown(known)} was to be renewed as {shown(principal)}",
                    told="Cannot change principals during re-authentication from "
                    f"{known.replace(':', '.', 1)}: {principal.replace(':', '.', 1)}",
                )
        return answer

    def _reply(self, answer: bytes, header: RequestHeader | None) -> list[Chunk]:
        assert self._exchange is not None
        lifetime_ms = 0 if self._exchange.login is None else self._complete(self._exchange.login)
        if header is None:
            return [_LENGTH.pack(len(answer)) + answer]
        return _framed(
            header,
            SaslAuthenticateResponse(error_message=None, auth_bytes=answer, session_lifetime_ms=lifetime_ms),
        )

    def _complete(self, login: Login) -> int:
        """The client has logged in. Returns how long that lasts, 0 without an end."""
        session, clock = self._session, self._session.broker.clock
        self._stop_timer()
        self._state = State.DONE
        self._exchange = None
        self._previous = None
        session.client.principal = f"User:{login.user}"
        session.client.is_by_token = login.is_by_token
        self._key = login.key
        if session.broker.audit is not None:
            session.broker.audit.logged_in(session.client, self._mechanism, login.key)
        session.connection.limit_frames(self._logins.frame_bytes_max, "socket.request.max.bytes")
        limits = [limit] if (limit := self._logins.session_ms(self._mechanism)) else []
        if login.expires_ms is not None:
            limits.append(max(0, login.expires_ms - clock.now_ms()))
        self._ends_at_ms = clock.monotonic_ms() + min(limits) if limits else None
        return min(limits, default=0)

    def _refuse(self, refusal: LoginRefused, header: RequestHeader | None) -> None:
        reason = f"login with {self._mechanism} failed: {refusal}"
        if header is None:
            self._fail(reason, [])
            return
        what = "authentication" if self._previous is None else "re-authentication"
        answer = SaslAuthenticateResponse(
            error_code=ErrorCode.SASL_AUTHENTICATION_FAILED,
            error_message=refusal.told
            or f"Authentication failed during {what} due to invalid credentials with SASL mechanism "
            f"{self._mechanism}",
            auth_bytes=b"",
        )
        self._fail(reason, _framed(header, answer))

    def _fail(self, reason: str, answer: list[Chunk]) -> None:
        """Answers and closes after the delay."""
        self._stop_timer()
        self._state = State.FAILED
        self._failure = reason
        if self._session.broker.audit is not None:
            self._session.broker.audit.login_failed(self._session.client, self._mechanism, reason)
        if self._is_gone:  # While its credential was checked.
            self._failure = None
            self._log_gone(reason)
            return
        delay_ms = self._logins.failure_delay_ms
        self._session.broker.scheduler.call_later(delay_ms, lambda: self._end(answer))

    def _log_gone(self, reason: str) -> None:
        connection = self._session.connection
        _log.warning("%s on %s did not wait for the answer: %s", connection.peer, connection.listener, reason)

    def _end(self, answer: list[Chunk]) -> None:
        reason, self._failure = self._failure, None
        if reason is None:  # The client has disconnected.
            return
        self._session.connection.reply(answer)
        self._session.connection.abort(reason)

    def _may_renew(self, now_ms: int) -> bool:
        """A login without an end cannot be renewed, as in Kafka."""
        if self._ends_at_ms is None:
            return False
        return self._renewed_at_ms is None or now_ms - self._renewed_at_ms >= RENEWAL_INTERVAL_MS

    def _cut_off(self) -> None:
        self._time_limit = None
        self._session.connection.abort(f"it did not log in within {LOGIN_MS_MAX // 1000} s")

    def _stop_timer(self) -> None:
        if self._time_limit is not None:
            self._time_limit.cancel()
            self._time_limit = None


def _check_version(header: RequestHeader, request: type[Request]) -> None:
    if header.api_version not in request.VERSIONS:
        raise PeerError(
            f"{request.__name__.removesuffix('Request')} v{header.api_version} is not supported: this broker serves "
            f"v{request.VERSIONS}"
        )


def _framed(header: RequestHeader, answer: Response) -> list[Chunk]:
    version = header.api_version
    body = encode_response_header(header.api_key, version, header.correlation_id) + codec.encode(
        answer, version
    )
    return [_LENGTH.pack(len(body)) + body]


def _failed_answer(header: RequestHeader, code: ErrorCode) -> list[Chunk]:
    """Nothing for a request whose answer has no error code of its own."""
    request = request_class(header.api_key)
    if request is None or header.api_version not in request.VERSIONS:
        return []
    fields = {field.name: field for field in fields_of(request.RESPONSE)}
    if "error_code" not in fields or header.api_version not in fields["error_code"].versions:
        return []
    answer: Any = request.RESPONSE()
    answer.error_code = code
    return _framed(header, answer)
