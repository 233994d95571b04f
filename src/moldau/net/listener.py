"""Listening sockets: accepts within limits, keeps the set of live connections, closes idle ones.

Owns the scratch buffer of the loop. Must not know what is sent on a connection.
"""

import contextlib
import errno
import logging
import resource
import select
import socket
from asyncio import AbstractEventLoop
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from moldau.core.errors import ConfigError
from moldau.core.settings.listeners import SecurityProtocol
from moldau.net.connection import IPV4_MAPPED, Connection, Session
from moldau.net.fair_share import FairShare
from moldau.net.frames import FrameAssembler
from moldau.net.tls_connection import TlsConnection, TlsIdentity, TlsWorkshop

_log = logging.getLogger("moldau.net")

SCRATCH_BYTES: Final = 256 * 1024
ACCEPTS_PER_TURN_MAX: Final = 64
ACCEPT_PAUSE_S: Final = 0.1
"""How long accepting pauses when the process has run out of file descriptors."""
SWEEPS_PER_IDLE_TIME: Final = 4
ERROR_LOG_INTERVAL_S: Final = 10.0
DESCRIPTORS_SHARE: Final = 2
"""Connections use at most one in so many of the file descriptors: the data needs some too."""
DISCONNECT_CHECK_S: Final = 1.0
"""How often the kernel is asked which clients have disconnected."""
CONGESTION_CONTROL: Final = getattr(socket, "TCP_CONGESTION", None)
"""The socket option, where there is one (Linux)."""

NO_IDENTITIES: Final[Mapping[str, TlsIdentity]] = MappingProxyType({})
NO_LIMITS: Final[Mapping[str, int]] = MappingProxyType({})
HELD_BACK_MAX: Final = 1000
"""How many connections that come too quickly are kept waiting; more are closed at once."""
OpenSession = Callable[[Connection], Session]


class ConnectionLimits(NamedTuple):
    request_bytes_max: int
    idle_ms_max: int
    connections_max: int
    connections_per_ip_max: int
    handshake_ms_max: int = 10_000
    connections_max_of: Mapping[str, int] = NO_LIMITS
    """Of single listeners."""
    connections_max_from: Mapping[str, int] = NO_LIMITS
    """Of single addresses, in place of `connections_per_ip_max`."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    name: str
    host: str
    port: int
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT


class AcceptRates(Protocol):
    """How quickly connections may come."""

    def listener_wait_ms(self, listener: str) -> int:
        """Counts a new connection. How long the listener must wait before it accepts the next."""

    def address_wait_ms(self, ip: str) -> int:
        """Counts a new connection, or says how long to keep it waiting before it is closed."""


class NoRates:
    def listener_wait_ms(self, listener: str) -> int:
        return 0

    def address_wait_ms(self, ip: str) -> int:
        return 0


class Listeners:
    """All listening sockets of one node and the connections that came through them."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        limits: Callable[[], ConnectionLimits],
        open_session: OpenSession,
        *,
        backlog: int,
        send_buffer_bytes: int,
        identities: Mapping[str, TlsIdentity] = NO_IDENTITIES,
        rates: AcceptRates | None = None,
    ) -> None:
        """`limits` is called whenever they apply, since they may change at run time. With a `send_buffer_bytes` of -1,
        and always for clients on this machine, the operating system sizes the send buffer. `identities`: for each
        listener with TLS."""
        self._loop = loop
        self._current_limits = limits
        self._backlog = backlog
        self._send_buffer_bytes = send_buffer_bytes
        self._open_session = open_session
        self._identities = identities
        self._rates = rates or NoRates()
        self._per_listener: Counter[str] = Counter()
        self._held_back: set[socket.socket] = set()
        self._tls = TlsWorkshop(loop)
        self._share = FairShare()
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self._sockets: list[socket.socket] = []
        self._per_ip: Counter[str] = Counter()
        self._ip_of: dict[Connection, str] = {}
        self._by_file: dict[int, Connection] = {}
        self._disconnects = select.epoll()
        self._error_logged_at = -ERROR_LOG_INTERVAL_S
        self._sweep = loop.call_later(self._sweep_interval_s, self._close_idle)
        self._disconnect_check = loop.call_later(DISCONNECT_CHECK_S, self._close_disconnected)

    @property
    def _limits(self) -> ConnectionLimits:
        return self._current_limits()

    @property
    def connections(self) -> list[Connection]:
        return list(self._ip_of)

    def listen(self, endpoint: Endpoint) -> Endpoint:
        """Binds and starts accepting. Returns the endpoint with the port that was bound."""
        assert not endpoint.protocol.has_tls or endpoint.name in self._identities, (
            "a listener without its key"
        )
        sock = _bind(endpoint, self._backlog)
        self._sockets.append(sock)
        self._loop.add_reader(sock, self._accept, sock, endpoint)
        return replace(endpoint, port=sock.getsockname()[1])

    def stop_accepting(self) -> None:
        for sock in self._sockets:
            self._loop.remove_reader(sock)
            sock.close()
        self._sockets.clear()

    def suspend(self) -> None:
        """Closes all connections and accepts no new ones until `listen` is called again."""
        self.stop_accepting()
        for connection in self.connections:
            connection.close()

    def close(self) -> None:
        self.stop_accepting()
        self._sweep.cancel()
        self._disconnect_check.cancel()
        for connection in self.connections:
            connection.close()
        for sock in self._held_back:
            sock.close()
        self._disconnects.close()
        self._tls.close()

    def _accept(self, listening: socket.socket, endpoint: Endpoint) -> None:
        for _ in range(ACCEPTS_PER_TURN_MAX):
            try:
                sock, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause_accepting(listening, endpoint, error)
                return
            ip = address[0].removeprefix(IPV4_MAPPED)
            refusal = self._refusal(ip, endpoint.name)
            if refusal is not None:
                _log.warning("rejecting a connection from %s on %s: %s", ip, endpoint.name, refusal)
                sock.close()
                continue
            too_quick_ms = self._rates.address_wait_ms(ip)
            if too_quick_ms:
                self._hold_back(sock, too_quick_ms)
                continue
            wait_ms = self._rates.listener_wait_ms(endpoint.name)
            self._admit(sock, ip, endpoint)
            if wait_ms:
                self._loop.remove_reader(listening)
                self._loop.call_later(wait_ms / 1000, self._resume_accepting, listening, endpoint)
                return

    def _admit(self, sock: socket.socket, ip: str, endpoint: Endpoint) -> None:
        sock.setblocking(False)
        frames = FrameAssembler(self._scratch, self._limits.request_bytes_max)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._fit_sending(sock)
            connection = self._connection(sock, endpoint, frames)
        except OSError:  # The peer has already disconnected.
            sock.close()
            return
        self._per_ip[ip] += 1
        self._per_listener[endpoint.name] += 1
        self._ip_of[connection] = ip
        self._by_file[sock.fileno()] = connection
        self._disconnects.register(sock, select.EPOLLRDHUP)
        connection.start(self._open_session(connection))

    def _connection(self, sock: socket.socket, endpoint: Endpoint, frames: FrameAssembler) -> Connection:
        if not endpoint.protocol.has_tls:
            return Connection(
                self._loop, sock, endpoint.name, endpoint.protocol, frames, self._share, self._forget
            )
        return TlsConnection(
            self._loop,
            sock,
            endpoint.name,
            endpoint.protocol,
            frames,
            self._share,
            self._forget,
            self._tls,
            self._identities[endpoint.name],
            self._limits.handshake_ms_max / 1000,
        )

    def _fit_sending(self, sock: socket.socket) -> None:
        if sock.getpeername()[0] != sock.getsockname()[0]:
            if self._send_buffer_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._send_buffer_bytes)
        elif CONGESTION_CONTROL is not None:
            # On one machine there is no congestion: an algorithm that paces its packets, such as BBR, only costs time,
            # and a small buffer causes wake-ups.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, CONGESTION_CONTROL, b"reno")

    def _hold_back(self, sock: socket.socket, wait_ms: int) -> None:
        """Closes a connection later: a client that was closed at once would come again at once."""
        if len(self._held_back) >= HELD_BACK_MAX:
            sock.close()
            return
        self._held_back.add(sock)
        self._loop.call_later(wait_ms / 1000, self._let_go, sock)

    def _let_go(self, sock: socket.socket) -> None:
        self._held_back.discard(sock)
        sock.close()

    def _refusal(self, ip: str, listener: str) -> str | None:
        limits = self._limits
        of_listener = limits.connections_max_of.get(listener, limits.connections_max)
        if self._per_listener[listener] >= of_listener:
            return (
                f"{of_listener} connections are already open on this listener "
                f"(listener.name.{listener.lower()}.max.connections)"
            )
        if len(self._ip_of) >= limits.connections_max:
            return f"{limits.connections_max} connections are already open (max.connections)"
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if len(self._ip_of) >= descriptors // DESCRIPTORS_SHARE:
            return f"half of the {descriptors} file descriptors of this process are connections; raise `ulimit -n`"
        per_ip_max = limits.connections_max_from.get(ip, limits.connections_per_ip_max)
        if self._per_ip[ip] >= per_ip_max:
            return f"it already has {per_ip_max} connections (max.connections.per.ip)"
        return None

    def _pause_accepting(self, listening: socket.socket, endpoint: Endpoint, error: OSError) -> None:
        now = self._loop.time()
        if now - self._error_logged_at > ERROR_LOG_INTERVAL_S:
            self._error_logged_at = now
            is_limit = error.errno in (errno.EMFILE, errno.ENFILE)
            why = "no file descriptors are left; raise `ulimit -n`" if is_limit else str(error)
            _log.error("cannot accept connections on %s at the moment: %s", endpoint.name, why)
        self._loop.remove_reader(listening)
        self._loop.call_later(ACCEPT_PAUSE_S, self._resume_accepting, listening, endpoint)

    def _resume_accepting(self, listening: socket.socket, endpoint: Endpoint) -> None:
        if listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening, endpoint)

    def _forget(self, connection: Connection) -> None:
        ip = self._ip_of.pop(connection)
        del self._by_file[connection.file_number]
        self._per_listener[connection.listener] -= 1
        self._per_ip[ip] -= 1
        if not self._per_ip[ip]:
            del self._per_ip[ip]

    @property
    def _sweep_interval_s(self) -> float:
        return max(self._limits.idle_ms_max / 1000 / SWEEPS_PER_IDLE_TIME, 0.01)

    def _close_idle(self) -> None:
        now = self._loop.time()
        idle_s_max = self._limits.idle_ms_max / 1000
        for connection in self.connections:
            idle_s = now - connection.last_active
            if idle_s > idle_s_max:
                connection.close()
            elif idle_s > self._sweep_interval_s:
                connection.release_idle_memory()
        self._sweep = self._loop.call_later(self._sweep_interval_s, self._close_idle)

    def _close_disconnected(self) -> None:
        """Finds disconnects that no reader sees: a reset does not always wake one (libuv stops polling on POLLERR), and
        a client that keeps sending while it waits is not read at all."""
        for file_number, events in self._disconnects.poll(0):
            connection = self._by_file[file_number]
            if events & (select.EPOLLERR | select.EPOLLHUP) or connection.is_waiting:
                connection.close()
        self._disconnect_check = self._loop.call_later(DISCONNECT_CHECK_S, self._close_disconnected)


def _bind(endpoint: Endpoint, backlog: int) -> socket.socket:
    """An empty host listens on every address, IPv6 and IPv4 alike."""
    try:
        if not endpoint.host:
            sock = _bind_every_address(endpoint.port, backlog)
        else:
            family, _, _, _, address = socket.getaddrinfo(
                endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            sock = socket.create_server(address[:2], family=family, backlog=backlog, reuse_port=False)
    except OSError as error:
        where = f"{endpoint.host or '*'}:{endpoint.port}"
        advice = {
            errno.EADDRINUSE: "something else listens there; stop it or choose another port in `listeners`",
            errno.EACCES: "this user may not bind it; choose a port above 1023",
            errno.EADDRNOTAVAIL: "this machine has no such address; correct `listeners`",
        }.get(error.errno or 0, "correct `listeners`")
        raise ConfigError(
            f"cannot listen on {where} for {endpoint.name}: {error.strerror}. {advice}"
        ) from error
    sock.setblocking(False)
    return sock


def _bind_every_address(port: int, backlog: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(
                ("", port), family=socket.AF_INET6, backlog=backlog, dualstack_ipv6=True
            )
        except OSError as error:
            if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                raise
    return socket.create_server(("0.0.0.0", port), backlog=backlog)  # noqa: S104
