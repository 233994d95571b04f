"""The settings of a connector's clients in its configuration, under the names of the Java clients, as librdkafka's.

`source.cluster.*` is for all clients of the source, `source.consumer.*`, `source.producer.*` and `source.admin.*` for
one kind of them; the same with `target`. `consumer.*`, `producer.*` and `admin.*` are for both clusters.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from moldau.pipeline.connect.data.java_clients import librdkafka_settings

Role = Literal["consumer", "producer", "admin"]
Side = Literal["source", "target"]

_SECURITY: Final = ("security.", "sasl.", "ssl.")
_PREFIXES: Final = (*_SECURITY, "source.", "target.", "consumer.", "producer.", "admin.")

_OF_CONNECTORS: Final = frozenset(
    {"source.cluster.alias", "target.cluster.alias", "admin.timeout.ms", "consumer.poll.timeout.ms"}
)
"""They begin as settings of clients do."""


def client_settings(config: Mapping[str, str], side: Side, role: Role) -> dict[str, Any]:
    """For a client of librdkafka. Raises ConfigError for what it cannot do."""
    java: dict[str, str] = {}
    for prefix in ("", f"{side}.cluster.", f"{role}.", f"{side}.{role}."):
        java |= _with_prefix(config, prefix)
    return {"log_level": "2", **librdkafka_settings(java, of=f"{side}.cluster.").settings}


def is_of_clients(name: str) -> bool:
    """Whether the setting goes to clients of the two clusters."""
    return name.startswith(_PREFIXES)


def _with_prefix(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Without a prefix, only security is meant: other names are those of the connector."""
    if not prefix:
        return {name: value for name, value in config.items() if name.startswith(_SECURITY)}
    return {
        name.removeprefix(prefix): value
        for name, value in config.items()
        if name.startswith(prefix) and name not in _OF_CONNECTORS
    }
