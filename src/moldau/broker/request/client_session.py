"""The session of one client connection: frames in, answers out.

Decodes the request header, finds the handler in the table and frames the answer. Owns what is known about the
client (address, software, principal). Knows no API and touches no socket.
"""

import struct
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from moldau.broker.audit.request_facts import AUDITED
from moldau.broker.request.answer_cache import AnswerKey
from moldau.broker.request.api_table import API_VERSIONS_KEY, ApiSpec
from moldau.broker.request.connection_login import CertificateLogin, ConnectionLogin
from moldau.broker.request.throttling import serve_metered
from moldau.core.chunks import Chunk
from moldau.core.errors import PeerError
from moldau.core.settings.listeners import SecurityProtocol
from moldau.protocol import codec
from moldau.protocol.headers import decode_request_header
from moldau.security.access.authorizer import AllowEverything, operations_bits
from moldau.security.access.model import ANONYMOUS, CLUSTER_NAME, Caller, Operation, ResourceKind

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.fetch.follower_fetch_session import FollowerFetchSession

_REQUEST_START: Final = struct.Struct(">hhi")
_CLIENT_ID_SIZE: Final = struct.Struct(">h")
_RESPONSE_V0: Final = struct.Struct(">ii")
_RESPONSE_V1: Final = struct.Struct(">iib")

NO_ANSWER: Final[list[Chunk]] = []
"""The answer to a produce request with acks=0: nothing is sent and the connection stays open."""


class ClientConnection(Protocol):
    """What a session needs from its connection."""

    peer: str
    local_host: str
    local_port: int
    listener: str
    protocol: SecurityProtocol
    tls_principal: str | None
    """The principal of the client's certificate, as `User:name`; None without one."""

    def reply(self, chunks: list[Chunk]) -> None:
        """Sends the answer to a frame for which `on_frame` returned None."""

    def abort(self, reason: str) -> None:
        """Closes the connection and logs one line with the reason."""

    def rest(self, seconds: float) -> None:
        """Serves no further frame for this long."""

    def limit_frames(self, bytes_max: int, setting: str) -> None:
        """From the next frame on, larger ones close the connection. `setting` is where the limit comes from."""

    def portion_bytes(self) -> int:
        """The most bytes one answer should have to serve this client best."""


@dataclass(slots=True)
class Client:
    """What the client has said about itself."""

    connection: ClientConnection
    client_id: str | None = None
    software_name: str = ""
    software_version: str = ""
    principal: str = ANONYMOUS
    is_by_token: bool = False
    """Whether it has logged in by a delegation token."""
    sees: Callable[[str], bool] | None = None
    """Whether it may know of a topic; None: it may know of all."""
    request: str = "unknown"
    """The name of the request that it sent last, for the log of the authorizer."""
    _caller: Caller | None = None

    @property
    def caller(self) -> Caller:
        """For the authorizer."""
        caller = self._caller
        if caller is None or caller[0] is not self.principal or caller[2] is not self.request:
            caller = Caller(self.principal, self.connection.peer.rpartition(":")[0], self.request)
            self._caller = caller
        return caller


@dataclass(slots=True)
class RequestContext:
    """What a handler may use besides the request."""

    broker: "Broker"
    client: Client
    version: int

    def may(self, operation: Operation, kind: ResourceKind, name: str, *, is_logged: bool = True) -> bool:
        """Whether the client is allowed to do it. `is_logged` False: it only sees less."""
        return self.broker.authorizer.allows(self.client.caller, operation, kind, name, is_logged=is_logged)

    def may_with_cluster(self, operation: Operation, *, is_logged: bool = True) -> bool:
        return self.may(operation, ResourceKind.CLUSTER, CLUSTER_NAME, is_logged=is_logged)

    def may_with_some(self, operation: Operation, kind: ResourceKind) -> bool:
        """With at least one resource of the kind, whatever its name."""
        return self.broker.authorizer.allows_some(self.client.caller, operation, kind)

    def allowed(
        self, operation: Operation, kind: ResourceKind, names: Iterable[str], *, is_logged: bool = True
    ) -> frozenset[str]:
        """Those of the names with which it is allowed. Each is asked once."""
        allows, caller = self.broker.authorizer.allows, self.client.caller
        return frozenset(
            name for name in set(names) if allows(caller, operation, kind, name, is_logged=is_logged)
        )

    def operations(self, kind: ResourceKind, name: str) -> int:
        """The client's operations as answers carry them (KIP-430)."""
        return operations_bits(self.broker.authorizer, self.client.caller, kind, name)


class ClientSession:
    """Created by the listener for each connection; lives as long as the connection."""

    __slots__ = (
        "_table",
        "broker",
        "client",
        "connection",
        "fetch_turn",
        "following",
        "is_guarded",
        "login",
        "on_disconnect",
        "throttle_ms",
    )

    def __init__(self, broker: "Broker", connection: ClientConnection) -> None:
        self.broker = broker
        self._table = broker.table
        self.connection = connection
        self.client = Client(connection)
        self.is_guarded = not isinstance(broker.authorizer, AllowEverything)
        """Whether the authorizer must be asked at all."""
        if self.is_guarded:
            self.client.sees = self._sees
        self.login: ConnectionLogin | CertificateLogin | None = None
        """Says who the client is; None where nobody asks."""
        if connection.protocol.has_sasl:
            self.login = ConnectionLogin(self, broker.logins.on(connection.listener))
        elif connection.protocol.has_tls:
            self.login = CertificateLogin(self)
        self.throttle_ms = 0
        """How long the client has to wait after this answer, which tells it."""
        self.fetch_turn = 0
        """The position of the partition that the next fetch serves first, after one that had no room for
        all."""
        self.following: FollowerFetchSession | None = None
        """The session of a follower on this connection."""
        self.on_disconnect: Callable[[], None] | None = None
        """Called once if the client disconnects while an answer is parked."""

    def on_frame(self, frame: memoryview) -> list[Chunk] | None:
        """The answer, or None when it will be sent later through `connection.reply`."""
        if self.login is not None and not self.login.lets_pass(frame):
            return self.login.on_frame(frame)
        if self.broker.quotas.is_active:
            return serve_metered(self, frame)
        self.throttle_ms = 0
        return self.dispatch(frame)

    def dispatch(self, frame: memoryview) -> list[Chunk] | None:
        """Serves a request without asking who the client is."""
        try:
            api_key, version, correlation_id = _REQUEST_START.unpack_from(frame)
        except struct.error:
            raise PeerError(f"a request of {len(frame)} bytes is too short to have a header") from None
        spec = self._table.find(api_key)
        if spec is None:
            raise PeerError(f"API key {api_key} is not served by this broker")
        if not spec.min_version <= version <= spec.max_version:
            return self._unsupported_version(spec, version, correlation_id)
        self.client.request = spec.name
        if spec.handle_frame is not None:
            position = _body_position(frame, is_flexible=version >= spec.flexible_from)
            return spec.handle_frame(self, frame, position, version, correlation_id)
        return self._handle(spec, bytes(frame), version, correlation_id)

    def closed(self) -> None:
        if self.login is not None:
            self.login.closed()
        if self.following is not None:
            self.following.close()
        callback, self.on_disconnect = self.on_disconnect, None
        if callback is not None:
            callback()

    def _sees(self, topic: str) -> bool:
        allows, caller = self.broker.authorizer.allows, self.client.caller
        return allows(caller, Operation.DESCRIBE, ResourceKind.TOPIC, topic, is_logged=False)

    def _handle(self, spec: ApiSpec, frame: bytes, version: int, correlation_id: int) -> list[Chunk] | None:
        header, position = decode_request_header(frame, 0)
        self.client.client_id = header.client_id
        cache_key = None
        if spec.is_cached and not (self.is_guarded or self.throttle_ms):
            connection = self.connection
            request_bytes = frame[position:]
            cache_key = AnswerKey(
                spec.key, version, request_bytes, connection.listener, connection.local_host
            )
            cached = self.broker.answers.find(cache_key)
            if cached is not None:
                return frame_answer(correlation_id, cached, has_tags=version >= spec.flexible_from)
        # Trailing bytes are ignored, as in Kafka: librdkafka appends some to Metadata v13.
        request, _ = codec.decode(spec.request, version, frame, position)
        assert spec.handle is not None
        answer = spec.handle(RequestContext(self.broker, self.client, version), request)
        if isinstance(answer, Awaitable):
            if self.broker.audit is not None and spec.name in AUDITED:
                answer = self._audited(spec, request, answer)
            self.broker.scheduler.spawn(self._answer_later(spec, answer, version, correlation_id))
            return None
        if self.broker.audit is not None and spec.name in AUDITED:
            self.broker.audit.changed(self.client, spec.name, request, answer)
        body = self._encoded(answer, version)
        if cache_key is not None:
            self.broker.answers.remember(cache_key, body)
        return self._framed(spec, body, version, correlation_id)

    async def _audited(self, spec: ApiSpec, request: Any, answer: Awaitable[Any]) -> Any:
        answered = await answer
        assert self.broker.audit is not None
        self.broker.audit.changed(self.client, spec.name, request, answered)
        return answered

    async def _answer_later(
        self, spec: ApiSpec, answer: Awaitable[Any], version: int, correlation_id: int
    ) -> None:
        try:
            body = self._encoded(await answer, version)
        except Exception as problem:
            self.connection.abort(f"{spec.name} v{version} failed: {problem!r}")
            raise
        self.connection.reply(self._framed(spec, body, version, correlation_id))

    def _encoded(self, answer: Any, version: int) -> bytes:
        if self.throttle_ms and hasattr(answer, "throttle_time_ms"):
            answer = replace(answer, throttle_time_ms=max(self.throttle_ms, answer.throttle_time_ms))
        return codec.encode(answer, version)

    def _framed(self, spec: ApiSpec, body: bytes, version: int, correlation_id: int) -> list[Chunk]:
        """The ApiVersions answer never has tagged fields in its header: the client may not support them
        (KIP-511)."""
        has_tags = version >= spec.flexible_from and spec.key != API_VERSIONS_KEY
        return frame_answer(correlation_id, body, has_tags=has_tags)

    def _unsupported_version(self, spec: ApiSpec, version: int, correlation_id: int) -> list[Chunk]:
        """Clients probe with the newest ApiVersions version they know and expect a v0 answer with error 35
        (KIP-511)."""
        if spec.key != API_VERSIONS_KEY:
            raise PeerError(
                f"{spec.name} v{version} is not supported: this broker serves "
                f"v{spec.min_version} to v{spec.max_version}"
            )
        assert spec.handle is not None
        answer = spec.handle(RequestContext(self.broker, self.client, version), None)
        return frame_answer(correlation_id, codec.encode(answer, 0), has_tags=False)


def _body_position(frame: memoryview, *, is_flexible: bool) -> int:
    """The position of the body: after the client id and, in a flexible header, after the tagged fields."""
    try:
        client_id_size = _CLIENT_ID_SIZE.unpack_from(frame, 8)[0]
        position = 10 + client_id_size if client_id_size > 0 else 10
        if not is_flexible:
            return position
        if frame[position] == 0:
            return position + 1
    except (struct.error, IndexError):
        raise PeerError(f"a request header ends too early, after {len(frame)} bytes") from None
    return decode_request_header(frame, 0)[1]


def frame_answer(correlation_id: int, body: bytes | bytearray, *, has_tags: bool) -> list[Chunk]:
    if has_tags:
        return [_RESPONSE_V1.pack(len(body) + 5, correlation_id, 0) + body]
    return [_RESPONSE_V0.pack(len(body) + 4, correlation_id) + body]


def frame_chunks(correlation_id: int, body: list[Chunk], size: int, *, has_tags: bool) -> list[Chunk]:
    """Like `frame_answer`, for a body that is partly in files."""
    if has_tags:
        return [_RESPONSE_V1.pack(size + 5, correlation_id, 0), *body]
    return [_RESPONSE_V0.pack(size + 4, correlation_id), *body]
