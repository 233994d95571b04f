"""The settings of RedisSink, under the names of Redis's own Kafka connector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import Importance, boolean, integer, password, string
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

OF: Final = "RedisSink"
SERVER, TLS, DATA = "Server", "TLS", "Data"
SCHEMES: Final = ("redis", "rediss", "unix")


class Kind(StrEnum):
    """What records become."""

    HASH = "HASH"
    STRING = "STRING"
    JSON = "JSON"
    STREAM = "STREAM"
    SET = "SET"
    ZSET = "ZSET"


COMMANDS: Final = {
    "HSET": Kind.HASH,
    "SET": Kind.STRING,
    "JSONSET": Kind.JSON,
    "XADD": Kind.STREAM,
    "SADD": Kind.SET,
    "ZADD": Kind.ZSET,
}

DECLARATIONS: Final = (
    Declaration(
        string(
            "redis.uri",
            "redis://localhost:6379",
            "The server: redis://host:port/database, rediss:// for TLS, unix:///path for a socket.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        group=SERVER,
        width="LONG",
        display_name="Server",
    ),
    Declaration(
        string("redis.username", "", "The user. Empty: the default one.", importance=Importance.MEDIUM),
        group=SERVER,
        display_name="User",
    ),
    Declaration(
        password("redis.password", "The user's password.", importance=Importance.MEDIUM),
        group=SERVER,
        display_name="Password",
    ),
    Declaration(
        integer(
            "redis.timeout",
            60,
            "How long the server may take to answer, in seconds.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=SERVER,
        display_name="Time to answer (s)",
    ),
    Declaration(
        string(
            "redis.cacert", "", "A file with the certificates that are trusted, in PEM. Empty: the system's."
        ),
        group=TLS,
        display_name="Trusted certificates",
    ),
    Declaration(
        boolean("redis.insecure", False, "Whether any certificate is accepted."),
        group=TLS,
        display_name="Accept any certificate",
    ),
    Declaration(
        string("redis.key.cert", "", "A file with the connector's certificate, in PEM."),
        group=TLS,
        display_name="Certificate",
    ),
    Declaration(
        string("redis.key.file", "", "A file with the private key of the connector's certificate, in PEM."),
        group=TLS,
        display_name="Key",
    ),
    Declaration(
        password("redis.key.password", "The password of the private key."),
        group=TLS,
        display_name="Password of the key",
    ),
    Declaration(
        string(
            "redis.type",
            Kind.HASH,
            "What records become. HASH, STRING, JSON: a key of Redis for each key of the topic. STREAM: an entry. SET, "
            "ZSET: the record's key is a member, with the value as its score.",
            check=one_of(*Kind, ignore_case=True),
            importance=Importance.HIGH,
        ),
        group=DATA,
        display_name="Type",
        recommends=lambda _: list(Kind),
    ),
    Declaration(
        string(
            "redis.command",
            "",
            "The same under its older name.",
            check=one_of("", *COMMANDS, ignore_case=True),
            importance=Importance.LOW,
        ),
        group=DATA,
        display_name="Command",
        recommends=lambda _: list(COMMANDS),
    ),
    Declaration(
        string(
            "redis.keyspace",
            "${topic}",
            "What keys begin with; ${topic} is replaced by the topic. It is the whole key of streams and sets.",
            importance=Importance.MEDIUM,
        ),
        group=DATA,
        display_name="Keyspace",
    ),
    Declaration(
        string("redis.separator", ":", "What is between the keyspace and the key of the record."),
        group=DATA,
        display_name="Separator",
    ),
    Declaration(
        integer(
            "redis.key.ttl",
            -1,
            "After how many seconds HASH, STRING and JSON keys expire that are not written again. -1: never.",
            at_least=-1,
            importance=Importance.LOW,
        ),
        group=DATA,
        display_name="Keys expire (s)",
    ),
    Declaration(
        boolean(
            "redis.exactly.once",
            False,
            "Whether offsets are kept in Redis, in the transaction of the records. STREAM has no duplicates then.",
        ),
        group=DATA,
        display_name="Exactly once",
    ),
    Declaration(
        string(
            "redis.offsets.keyspace",
            "moldau:connect:offsets",
            "What the keys of these offsets begin with; connector, topic and partition follow.",
            check=NON_EMPTY,
            importance=Importance.LOW,
        ),
        group=DATA,
        display_name="Keyspace of offsets",
        is_visible=lambda texts: texts.get("redis.exactly.once", "").lower() == "true",
    ),
)


@dataclass(frozen=True)
class RedisSettings:
    uri: str = field(repr=False)
    """It may have a password in it."""
    server: str
    """For people."""
    user: str
    password: str = field(repr=False)
    timeout_s: int
    tls: Mapping[str, Any] = field(repr=False)
    kind: Kind = Kind.HASH
    keyspace: str = "${topic}"
    separator: str = ":"
    ttl_s: int = -1
    is_exactly_once: bool = False
    offsets_keyspace: str = ""

    @property
    def is_tls(self) -> bool:
        return self.uri.startswith("rediss:")

    @classmethod
    def of(cls, config: Texts) -> "RedisSettings":
        """Raises ConfigError."""
        values = values_of(DECLARATIONS, config, of=OF)
        uri = values["redis.uri"]
        server = _server_in(uri)
        kind = Kind(values["redis.type"].upper())
        command = values["redis.command"].upper()
        if command:
            kind_of_command = COMMANDS[command]
            if config.get("redis.type") and kind is not kind_of_command:
                raise ConfigError(
                    f"redis.command={command} and redis.type={kind} contradict each other: leave out redis.command"
                )
            kind = kind_of_command
        if values["redis.key.ttl"] == 0:
            raise ConfigError("redis.key.ttl=0 would delete every key at once: set -1 for keys that stay")
        return cls(
            uri=uri,
            server=server,
            user=values["redis.username"],
            password=values["redis.password"] or "",
            timeout_s=values["redis.timeout"],
            tls=_tls(values) if uri.startswith("rediss:") else {},
            kind=kind,
            keyspace=values["redis.keyspace"],
            separator=values["redis.separator"],
            ttl_s=values["redis.key.ttl"],
            is_exactly_once=values["redis.exactly.once"],
            offsets_keyspace=f"{values['redis.offsets.keyspace']}:{config.get('name', '')}",
        )


def _server_in(uri: str) -> str:
    """Without its secrets."""
    wanted = "write redis.uri as redis://host:port/database, rediss://... for TLS, or unix:///path"
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as wrong:
        raise ConfigError(f"redis.uri is not a URI: {wrong}; {wanted}") from None
    if parts.scheme not in SCHEMES:
        raise ConfigError(f"redis.uri begins with {parts.scheme or 'no scheme'!r}: {wanted}")
    if parts.scheme == "unix":
        return f"Redis at {parts.path}"
    database = parts.path.strip("/")
    if not parts.hostname or (database and not database.isdecimal()):
        raise ConfigError(f"redis.uri names no server, or its database is not a number: {wanted}")
    return f"Redis at {parts.hostname}:{port or 6379}"


def _tls(values: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "ssl_ca_certs": "redis.cacert",
        "ssl_certfile": "redis.key.cert",
        "ssl_keyfile": "redis.key.file",
    }
    for name in names.values():
        if values[name] and not Path(values[name]).is_file():
            raise ConfigError(f"{name}={values[name]} is not a file that can be read")
    if values["redis.key.file"] and not values["redis.key.cert"]:
        raise ConfigError("redis.key.file is the key of a certificate: name that in redis.key.cert")
    found = {option: values[name] for option, name in names.items() if values[name]}
    if values["redis.key.password"]:
        found["ssl_password"] = values["redis.key.password"]
    if values["redis.insecure"]:
        found |= {"ssl_cert_reqs": "none", "ssl_check_hostname": False}
    return found
