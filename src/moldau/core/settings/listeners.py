"""Parses listeners: their text form `NAME://host:port`, and the security protocol of each name."""

import re
from enum import Enum
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings

_ENDPOINT: Final = re.compile(
    r"([A-Za-z0-9_.-]+)://(?:\[([0-9a-fA-F:.%]+)\]|([0-9A-Za-z%._-]*)):([0-9]{1,5})"
)
PORT_MAX: Final = 65_535


class SecurityProtocol(Enum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Endpoint(NamedTuple):
    host: str
    port: int


class Listener(NamedTuple):
    name: str
    protocol: SecurityProtocol
    host: str
    """Empty for every interface."""
    port: int


def broker_listeners(settings: BrokerSettings) -> tuple[Listener, ...]:
    """The listeners a broker opens: all but those reserved for controllers."""
    endpoints = _parse_endpoints("listeners", settings.listeners)
    protocols = _parse_protocol_map(settings.listener_security_protocol_map)
    reserved = {name.upper() for name in settings.controller_listener_names}
    _refuse_shared_ports(endpoints)
    listeners = []
    for name, (host, port) in endpoints.items():
        if name in reserved:
            continue
        if name not in protocols:
            raise ConfigError(
                f"listener {name} has no security protocol; add {name}:PLAINTEXT to "
                "listener.security.protocol.map, or use the name PLAINTEXT"
            )
        listeners.append(Listener(name, protocols[name], host, port))
    if not listeners:
        raise ConfigError("listeners names no listener for clients, for example listeners=PLAINTEXT://:9092")
    return tuple(listeners)


def listener_names(settings: BrokerSettings) -> list[str]:
    """The names in `listeners`, those of controllers included, in upper case."""
    return list(_parse_endpoints("listeners", settings.listeners))


def advertised_endpoints(settings: BrokerSettings) -> dict[str, Endpoint]:
    """The advertised endpoint of each listener. A listener without one advertises the address the client connected
    to."""
    endpoints = _parse_endpoints("advertised.listeners", settings.advertised_listeners or ())
    reserved = {name.upper() for name in settings.controller_listener_names}
    for name, (host, port) in endpoints.items():
        if host in ("", "0.0.0.0", "::"):  # noqa: S104 refused, not bound
            raise ConfigError(
                f"advertised.listeners: {name}://{host}:{port} is not an address a client can connect to; name the host"
            )
    return {name: endpoint for name, endpoint in endpoints.items() if name not in reserved}


def _parse_endpoints(key: str, texts: tuple[str, ...]) -> dict[str, Endpoint]:
    endpoints: dict[str, Endpoint] = {}
    for text in texts:
        match = _ENDPOINT.fullmatch(text)
        if match is None or int(match[4]) > PORT_MAX:
            raise ConfigError(
                f"{key}: {text!r} is not of the form NAME://host:port, for example PLAINTEXT://0.0.0.0:9092"
            )
        name = match[1].upper()
        if name in endpoints:
            raise ConfigError(f"{key} has the name {name} twice; each listener needs its own name")
        endpoints[name] = Endpoint(match[2] or match[3] or "", int(match[4]))
    return endpoints


def _refuse_shared_ports(endpoints: dict[str, Endpoint]) -> None:
    """One port serves two listeners only where one is IPv4 and the other IPv6 (KAFKA-14210)."""
    taken: dict[int, tuple[str, Endpoint]] = {}
    for name, endpoint in endpoints.items():
        other = taken.setdefault(endpoint.port, (name, endpoint))
        if endpoint.port == 0 or other[0] == name or ":" in endpoint.host + other[1].host:
            continue
        raise ConfigError(
            f"listeners: {other[0]} and {name} both use port {endpoint.port}; give each its own port"
        )


def _parse_protocol_map(text: str) -> dict[str, SecurityProtocol]:
    protocols = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, separator, protocol = pair.rpartition(":")
        if not separator or protocol.strip().upper() not in SecurityProtocol.__members__:
            raise ConfigError(
                f"listener.security.protocol.map: {pair!r} is not of the form NAME:PROTOCOL with a protocol "
                f"of {', '.join(SecurityProtocol.__members__)}, for example INTERNAL:PLAINTEXT"
            )
        protocols[name.strip().upper()] = SecurityProtocol[protocol.strip().upper()]
    return protocols
