"""The address a service listens on, and the socket that listens there."""

import socket
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from moldau.core.errors import ConfigError

BACKLOG: Final = 2048
ANY_HOSTS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104


class Address(NamedTuple):
    """`scheme` is `http` or `https`."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_listeners(
    listeners: Sequence[str], *, port_default: int, schemes: Sequence[str] = ("http", "https")
) -> Address:
    """The one address that the setting `listeners` has. Raises ConfigError."""
    example = f"{schemes[0]}://0.0.0.0:{port_default}"
    if len(listeners) != 1:
        raise ConfigError(f"listeners: give exactly one address, for example {example}")
    text = listeners[0]
    try:
        parts = urlsplit(text if "//" in text else f"{schemes[0]}://{text}")
        port = port_default if parts.port is None else parts.port
    except ValueError as error:
        raise ConfigError(f"listeners: {text} is not a valid address: {error}. Example: {example}") from None
    if parts.scheme not in schemes:
        raise ConfigError(
            f"listeners: {text} is not supported, only {' and '.join(schemes)}. Example: {example}"
        )
    if parts.path.strip("/") or parts.query:
        raise ConfigError(f"listeners: {text} has a path; give only host and port, for example {example}")
    return Address(parts.scheme, parts.hostname or "0.0.0.0", port)  # noqa: S104 As Confluent's: all interfaces.


def bound_socket(address: Address, service: str) -> socket.socket:
    """Listens already. `service` is its name in words for people, for the error when the port is taken."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Head and body of an answer are two writes; without this the second waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((address.host, address.port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {address}: {error.strerror}. Is a {service} running already? "
            "Set another address with --listen"
        ) from None
    listener.listen(BACKLOG)
    return listener


def reachable_host(host: str) -> str:
    """The host under which others reach a listener: this machine's name if it listens on all interfaces."""
    return socket.gethostname() if host in ANY_HOSTS else host
