"""How a session with ZooKeeper is protected: TLS, a login on each connection, and who may change our nodes.

kazoo has both only for PEM files and through a package that is not maintained, so its connection is given ours.
"""

import itertools
import logging
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, AuthFailedError, ConnectionDropped, ZookeeperError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import SASL
from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from moldau.coordination import tree_layout as layout
from moldau.core.errors import ConfigError, PeerError
from moldau.security.sasl.client_login import ClientLogin

_SECRET: Final = (f"{layout.CONFIGS}/users", layout.BROKER_CONFIGS, "/delegation_token")
"""Not for everybody to read: credentials of users, passwords in the settings of brokers, tokens."""
_FIRST: Final = "/brokers"
TIMEOUT_S_MIN: Final = 0.001
_log = logging.getLogger("moldau.zookeeper")


class Protection(NamedTuple):
    """What a session is opened with. Keys and certificates are asked for again with each connection."""

    tls: Callable[[], ssl.SSLContext] | None = None
    """None: no encryption. ConfigError if the files cannot be used at the moment."""
    login: Callable[[str], ClientLogin] | None = None
    """Begins a login to the server of this name. None: no login. ConfigError if there are no keys for one."""
    has_own_nodes: bool = False
    """Whether only those with our login may change what we create."""


NO_PROTECTION: Final = Protection()


class Obstacle:
    """Why the last connection could not be used, for those who wait for one."""

    text: str | None = None


def node_acl(path: str, *, is_own: bool) -> Sequence[ACL]:
    """Of a new node, as Kafka sets it."""
    if not is_own:
        return OPEN_ACL_UNSAFE  # type: ignore[no-any-return]
    if any(path == each or path.startswith(f"{each}/") for each in _SECRET):
        return CREATOR_ALL_ACL  # type: ignore[no-any-return]
    return [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]


def warn_of_open_nodes(client: KazooClient, timeout_s: float) -> None:
    """Nodes that were there before they were to be our own have the rights they had."""
    if client.exists_async(_FIRST).get(timeout=timeout_s) is None:
        return
    rights, _ = client.get_acls_async(_FIRST).get(timeout=timeout_s)
    if any(each in OPEN_ACL_UNSAFE for each in rights):
        _log.warning(
            "zookeeper.set.acl=true holds for new nodes; everybody may still change %s and others that were there "
            "before: when all brokers log in, use `setAcl -R` of ZooKeeper's own zkCli.sh",
            _FIRST,
        )


class TlsHandler(SequentialThreadingHandler):  # type: ignore[misc]
    """kazoo's handler, with TLS by our own contexts. There is a new one for each connection, so that changed
    certificates are taken over with the next."""

    def __init__(self, make_context: Callable[[], ssl.SSLContext], obstacle: Obstacle) -> None:
        """ConfigError if there can be no context."""
        super().__init__()
        self._make_context = make_context
        self._obstacle = obstacle
        self._last = make_context()

    def create_connection(
        self, address: tuple[str, int], hostname: str, timeout: float, **_: Any
    ) -> ssl.SSLSocket:
        deadline = time.monotonic() + timeout
        plain = socket.create_connection(address, timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.settimeout(max(TIMEOUT_S_MIN, deadline - time.monotonic()))
        try:
            secured = self._context().wrap_socket(plain, server_hostname=hostname)
        except OSError as error:
            plain.close()
            self._obstacle.text = f"TLS with ZooKeeper at {hostname}:{address[1]} failed: {_words(error)}"
            raise
        self._obstacle.text = None
        return secured

    def select(self, readable: Sequence[Any], *rest: Any) -> Any:
        # What TLS has decrypted already is not seen by the system's call.
        pending = [each for each in readable if isinstance(each, ssl.SSLSocket) and each.pending()]
        return (pending, [], []) if pending else super().select(readable, *rest)

    def _context(self) -> ssl.SSLContext:
        try:
            self._last = self._make_context()
        except ConfigError as error:
            _log.error("TLS to ZooKeeper goes on with the files it had: %s", error)
        return self._last


def log_in_with(client: KazooClient, begin: Callable[[str], ClientLogin], obstacle: Obstacle) -> None:
    """From now on each connection of this client logs in before it is used for anything else."""
    connection = client._connection

    def log_in(host: str, timeout_s: float) -> None:
        """On kazoo's connection thread. A failure breaks the connection, and kazoo makes another one later: the server
        may be without its keys for a while, and nobody else would try again."""
        try:
            _exchange(connection, begin(host), timeout_s)
        except (ConfigError, PeerError, ZookeeperError) as error:
            obstacle.text = f"the login to ZooKeeper at {host} failed: {_reason(error)}"
            _log.error("%s", obstacle.text)
            raise ConnectionDropped(obstacle.text) from None
        obstacle.text = None

    # Private names of kazoo's: where there are options its connection calls this method after each connect.
    connection.sasl_options = {}
    connection._authenticate_with_sasl = log_in


def _exchange(connection: Any, login: ClientLogin, timeout_s: float) -> None:
    """The messages are numbered by themselves: no other request is sent before the end."""
    message = next(login)
    for number in itertools.count(1):
        connection._submit(SASL(message), timeout_s, number)
        header, content, offset = connection._read_header(timeout_s)
        if header.err:
            raise EXCEPTIONS[header.err]()
        answer, _ = SASL.deserialize(content, offset)
        try:
            message = login.send(bytes(answer or b""))
        except StopIteration:
            return


def _reason(error: Exception) -> str:
    if isinstance(error, AuthFailedError):
        return (
            "the server refuses it; compare the user and the password, or the keys, of "
            "moldau.zookeeper.sasl.jaas.config with the JAAS file of the server"
        )
    return str(error) or type(error).__name__


def _words(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is refused: {error.verify_message}"
    return error.strerror or str(error)
