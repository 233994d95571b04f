"""Settings of Kafka's Java clients as those of librdkafka: names, logins, key stores.

Stores in PEM are passed on by their path. Those in JKS and PKCS12 are read here, and passed on as their content.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.security.tls.pem import certificates_text
from moldau.security.tls.stores import key_from_file, trust_from_file

_RENAMED: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_WITHOUT_COUNTERPART: Final = frozenset(
    {
        "auto.commit.interval.ms",
        "buffer.memory",
        "default.api.timeout.ms",
        "enable.metrics.push",
        "exclude.internal.topics",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "max.poll.records",
        "metadata.max.idle.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.class",
        "partitioner.ignore.keys",
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "security.providers",
        "ssl.enabled.protocols",
        "ssl.engine.factory.class",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
        "value.deserializer",
        "value.serializer",
    }
)
"""`partitioner.class` is always Kafka's default."""
_STORES: Final = ("ssl.truststore.", "ssl.keystore.")
_FIELD: Final = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]+))")
_KERBEROS: Final = "Krb5LoginModule"
_LOGINS: Final[Mapping[str, Mapping[str, str]]] = {
    "": {"username": "sasl.username", "password": "sasl.password"},
    "OAuthBearerLoginModule": {
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    },
    _KERBEROS: {"keyTab": "sasl.kerberos.keytab", "principal": "sasl.kerberos.principal"},
}
"""By the login module: what its fields are called."""
_UNSECURED: Final = "unsecuredLoginStringClaim_sub"


class Translated(NamedTuple):
    settings: dict[str, str]
    ignored: list[str]
    """Names without a counterpart."""


def librdkafka_settings(java: Mapping[str, str], *, of: str = "") -> Translated:
    """`of` is what names have before them in the configuration. Raises ConfigError for a login or store that cannot be
    used."""
    found: dict[str, str] = {}
    ignored: list[str] = []
    for name, value in java.items():
        if name == "sasl.jaas.config":
            found |= _login(value, of)
        elif name == "ssl.endpoint.identification.algorithm":
            found[name] = value or "none"
        elif name in _RENAMED:
            found[_RENAMED[name]] = value
        elif name in _WITHOUT_COUNTERPART:
            ignored.append(of + name)
        elif not name.startswith(_STORES) and name != "ssl.key.password":
            found[name] = value
    try:
        found |= _trust(java) | _key(java)
    except ConfigError as wrong:
        raise ConfigError(f"{of}ssl.*: {wrong}" if of else str(wrong)) from None
    return Translated(found, ignored)


def _login(jaas: str, of: str) -> dict[str, str]:
    fields = {
        name: re.sub(r"\\(.)", r"\1", quoted) if quoted else bare
        for name, quoted, bare in _FIELD.findall(jaas)
    }
    if _UNSECURED in fields:
        return {
            "enable.sasl.oauthbearer.unsecure.jwt": "true",  # codespell:ignore unsecure
            "sasl.oauthbearer.config": f"principal={fields[_UNSECURED]}",
        }
    module = next((one for one in _LOGINS if one and one in jaas), "")
    found = {ours: fields[theirs] for theirs, ours in _LOGINS[module].items() if theirs in fields}
    if "OAuthBearer" in module:
        found["sasl.oauthbearer.method"] = "oidc"
    if not found and module != _KERBEROS:
        raise ConfigError(
            f"{of}sasl.jaas.config has no username and password. For mechanisms without them, give librdkafka's "
            f"settings instead, such as {of}sasl.oauthbearer.config"
        )
    return found


def _trust(java: Mapping[str, str]) -> dict[str, str]:
    path = java.get("ssl.truststore.location")
    if not path:
        return {}
    if java.get("ssl.truststore.type", "").upper() == "PEM":
        return {"ssl.ca.location": path}
    found = trust_from_file(path, java.get("ssl.truststore.password"))
    return {"ssl.ca.pem": certificates_text(found.certificates)}


def _key(java: Mapping[str, str]) -> dict[str, str]:
    path, secret = java.get("ssl.keystore.location"), java.get("ssl.key.password")
    if not path:
        return {"ssl.key.password": secret} if secret else {}
    kind = java.get("ssl.keystore.type", "").upper()
    if kind == "PEM":
        named = {"ssl.certificate.location": path, "ssl.key.location": path}
        return {**named, "ssl.key.password": secret} if secret else named
    found = key_from_file(path, java.get("ssl.keystore.password"), secret)
    return {"ssl.certificate.pem": certificates_text(found.chain), "ssl.key.pem": found.key}
