"""The settings that source and sink share: which servers, who connects, TLS."""

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import Importance, boolean, integer, password, string, strings
from moldau.pipeline.connect.declarations import Declaration

SERVER, SESSION, TLS = "Server", "Session", "TLS"
PORTS: Final = {"tcp": 1883, "mqtt": 1883, "ssl": 8883, "mqtts": 8883}
ENCRYPTED: Final = frozenset({"ssl", "mqtts"})
VERSIONS: Final = ("5", "3.1.1")

CONNECTION: Final = (
    Declaration(
        strings(
            "mqtt.server.uri",
            (),
            "The servers, tried one after the other: tcp://host:1883, or ssl://host:8883 for TLS.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        is_required=True,
        group=SERVER,
        width="LONG",
        display_name="Servers",
    ),
    Declaration(
        string("mqtt.username", "", "The user. Empty: none.", importance=Importance.HIGH),
        group=SERVER,
        display_name="User",
    ),
    Declaration(
        password("mqtt.password", "The user's password.", importance=Importance.HIGH),
        group=SERVER,
        display_name="Password",
    ),
    Declaration(
        integer(
            "mqtt.connect.timeout.seconds",
            30,
            "How long a server may take to answer.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=SERVER,
        display_name="Time to connect (s)",
    ),
    Declaration(
        integer(
            "mqtt.keepalive.interval.seconds",
            60,
            "How long a connection may be silent before it is tested.",
            at_least=1,
            at_most=65_535,
            importance=Importance.LOW,
        ),
        group=SERVER,
        display_name="Keep alive (s)",
    ),
    Declaration(
        string(
            "mqtt.protocol.version",
            VERSIONS[0],
            "The version of MQTT that is spoken.",
            check=one_of(*VERSIONS),
            importance=Importance.LOW,
        ),
        group=SERVER,
        display_name="Version of MQTT",
        recommends=lambda _: VERSIONS,
    ),
    Declaration(
        boolean(
            "mqtt.clean.session.enabled",
            True,
            "false: the server keeps messages for the connector while it is away. true: it forgets it at once.",
            importance=Importance.LOW,
        ),
        group=SESSION,
        display_name="Clean session",
    ),
    Declaration(
        string(
            "mqtt.client.id",
            "",
            "The name of the client at the server; each task adds its number. Empty: the connector's name for a "
            "session that is kept, and a name made by the server otherwise.",
            importance=Importance.LOW,
        ),
        group=SESSION,
        display_name="Client",
    ),
    Declaration(
        string(
            "mqtt.ssl.trust.store.path",
            "",
            "A file with the certificates that are trusted, in PEM. Empty: those of the system.",
            importance=Importance.HIGH,
        ),
        group=TLS,
        display_name="Trusted certificates",
    ),
    Declaration(
        password(
            "mqtt.ssl.trust.store.password",
            "The password of the trust store.",
            inert="certificates in PEM have no password",
        ),
        group=TLS,
        display_name="Password of the trust store",
    ),
    Declaration(
        string(
            "mqtt.ssl.key.store.path",
            "",
            "A file with the connector's certificate and its private key, in PEM, for servers that ask for one.",
            importance=Importance.HIGH,
        ),
        group=TLS,
        display_name="Key store",
    ),
    Declaration(
        password(
            "mqtt.ssl.key.store.password",
            "The password of the key store.",
            inert="in a PEM file only the private key has a password: mqtt.ssl.key.password",
        ),
        group=TLS,
        display_name="Password of the key store",
    ),
    Declaration(
        password("mqtt.ssl.key.password", "The password of the private key."),
        group=TLS,
        display_name="Password of the key",
    ),
)


@dataclass(frozen=True)
class Server:
    """Where to connect to."""

    host: str
    port: int
    is_encrypted: bool

    def __str__(self) -> str:
        return f"{'ssl' if self.is_encrypted else 'tcp'}://{self.host}:{self.port}"


@dataclass(frozen=True)
class ConnectionSettings:
    """How a task connects."""

    servers: Sequence[Server]
    user: str
    password: str = field(repr=False)
    client_id: str
    is_clean: bool
    is_version_5: bool
    connect_s: int
    keep_alive_s: int
    tls: ssl.SSLContext | None

    @classmethod
    def of(cls, values: Mapping[str, Any], *, name: str, task: int) -> "ConnectionSettings":
        """Raises ConfigError. `name` is the connector's, `values` are parsed."""
        servers = [server_of(text) for text in values["mqtt.server.uri"]]
        if values["mqtt.password"] and not values["mqtt.username"]:
            raise ConfigError("mqtt.password is set without mqtt.username: set both, or none")
        client_id = values["mqtt.client.id"]
        is_clean = values["mqtt.clean.session.enabled"]
        if not client_id and not is_clean:
            client_id = f"moldau-{name or 'connector'}"
        return cls(
            servers,
            values["mqtt.username"],
            values["mqtt.password"] or "",
            f"{client_id}-{task}" if client_id else "",
            is_clean,
            values["mqtt.protocol.version"] == VERSIONS[0],
            values["mqtt.connect.timeout.seconds"],
            values["mqtt.keepalive.interval.seconds"],
            _tls(values) if any(one.is_encrypted for one in servers) else None,
        )


def server_of(uri: str) -> Server:
    """Raises ConfigError, which says what a URI looks like."""
    wanted = "write it as tcp://host:1883, or ssl://host:8883 for TLS"
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as wrong:
        raise ConfigError(f"mqtt.server.uri={uri} is not a URI: {wrong}; {wanted}") from None
    if parts.scheme not in PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise ConfigError(f"mqtt.server.uri={uri} does not name a server: {wanted}")
    if parts.username or parts.password:
        raise ConfigError(
            "mqtt.server.uri has a user or a password in it: set mqtt.username and mqtt.password instead"
        )
    return Server(parts.hostname, port or PORTS[parts.scheme], parts.scheme in ENCRYPTED)


def _tls(values: Mapping[str, Any]) -> ssl.SSLContext:
    trusted, own = values["mqtt.ssl.trust.store.path"], values["mqtt.ssl.key.store.path"]
    context = ssl.create_default_context()
    if trusted:
        with _reading("mqtt.ssl.trust.store.path", trusted):
            context = ssl.create_default_context(cafile=trusted)
    if own:
        with _reading("mqtt.ssl.key.store.path", own):
            # Without a password, an encrypted key would ask for one on the terminal.
            context.load_cert_chain(own, password=values["mqtt.ssl.key.password"] or "")
    return context


@contextmanager
def _reading(name: str, path: str) -> Iterator[None]:
    """Says which file cannot be read, and why."""
    try:
        if b"-----BEGIN " not in Path(path).read_bytes():
            raise ConfigError(
                f"{name}={path} is not in PEM. Convert a store of Java with `keytool -importkeystore -deststoretype "
                "PKCS12`, and then with `openssl pkcs12`"
            )
        yield
    except OSError as failure:  # As those of ssl are.
        raise ConfigError(f"{name}={path} cannot be used: {failure}") from failure
