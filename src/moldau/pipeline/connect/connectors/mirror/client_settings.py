"""The clients' settings in a connector's configuration, under the names of the Java clients, as those of librdkafka.

`source.cluster.*` is for all clients of the source, `source.consumer.*`, `source.producer.*` and `source.admin.*` for
one kind of them; the same with `target`. `consumer.*`, `producer.*` and `admin.*` are for both clusters. Pure.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from moldau.core.errors import ConfigError

Role = Literal["consumer", "producer", "admin"]
Side = Literal["source", "target"]

_RENAMED: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "max.request.size": "message.max.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_OURS: Final = frozenset({"key.deserializer", "value.deserializer", "key.serializer", "value.serializer"})
_SECURITY: Final = ("security.", "sasl.", "ssl.")
_CREDENTIAL: Final = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]+))")


def client_settings(config: Mapping[str, str], side: Side, role: Role) -> dict[str, Any]:
    """For a client of librdkafka. Raises ConfigError for what it cannot do."""
    java: dict[str, str] = {}
    for prefix in ("", f"{side}.cluster.", f"{role}.", f"{side}.{role}."):
        java |= _with_prefix(config, prefix)
    settings: dict[str, Any] = {"log_level": "2"}
    for name, value in java.items():
        if name == "sasl.jaas.config":
            settings |= _credentials(value, side)
        elif name.startswith(("ssl.truststore.", "ssl.keystore.")) and name not in _RENAMED:
            settings |= _store(name, value, java)
        elif name == "ssl.endpoint.identification.algorithm":
            settings[name] = value or "none"
        elif name not in _OURS:
            settings[_RENAMED.get(name, name)] = value
    return settings


def _with_prefix(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Without a prefix, only security is meant: other names are those of the connector."""
    if not prefix:
        return {name: value for name, value in config.items() if name.startswith(_SECURITY)}
    found = {name.removeprefix(prefix): value for name, value in config.items() if name.startswith(prefix)}
    return {name: value for name, value in found.items() if name != "alias"}


def _credentials(jaas: str, side: Side) -> dict[str, str]:
    found = {name: quoted or bare for name, quoted, bare in _CREDENTIAL.findall(jaas)}
    names = [name for name in ("username", "password") if name in found]
    if not names:
        raise ConfigError(
            f"{side}.cluster.sasl.jaas.config has no username and password. For mechanisms without them, give "
            f"librdkafka's settings instead, such as {side}.cluster.sasl.oauthbearer.config"
        )
    return {f"sasl.{name}": re.sub(r"\\(.)", r"\1", found[name]) for name in names}


def _store(name: str, value: str, java: Mapping[str, str]) -> dict[str, str]:
    """Files in PEM, and key stores in PKCS12, are read; those in Java's own format cannot be."""
    store, _, part = name.removeprefix("ssl.").partition(".")
    kind = java.get(f"ssl.{store}.type", "JKS").upper()
    if part != "location":
        return {name: value} if (store, part, kind) == ("keystore", "password", "PKCS12") else {}
    if kind == "PEM":
        if store == "truststore":
            return {"ssl.ca.location": value}
        return {"ssl.certificate.location": value, "ssl.key.location": value}
    if (store, kind) == ("keystore", "PKCS12"):
        return {name: value}
    raise ConfigError(
        f"{name}={value} is a store of type {kind}, which the clients here cannot read: convert it to PEM, for "
        f"instance with `keytool` and `openssl`, and set ssl.{store}.type=PEM"
    )
