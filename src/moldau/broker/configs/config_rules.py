"""Rules for dynamic settings beyond the validity of each value. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import Scope
from moldau.core.settings.listener_keys import LISTENER_PREFIX, broker_key
from moldau.core.settings.text_form import parse_list
from moldau.core.settings.view import nearest_text

CLIENT_PROPERTIES: Final = frozenset(
    {
        "client_id",
        "client_instance_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)

PER_LISTENER: Final = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
"""They change at runtime for single listeners only."""
CLUSTER_WIDE: Final = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})
"""They change for a listener on all brokers."""


def check_dynamic(texts: Mapping[str, str], *, for_all_brokers: bool) -> None:
    """Only some broker settings can change at runtime, and some of those only for a single broker."""
    keys = {name: broker_key(name) for name in texts}
    for name, key in keys.items():
        if key is None:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"Unknown broker config name: {name}{nearest_text(name, BrokerSettings.KEYS)}",
            )
    known = {name: key for name, key in keys.items() if key is not None}
    fixed = [name for name, key in known.items() if key.scope is Scope.STATIC and not _is_of_listener(name)]
    if fixed:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update these configs dynamically: {', '.join(fixed)}. Change them in the broker's file "
            "and restart it.",
        )
    unprefixed = [name for name in texts if name in PER_LISTENER]
    if unprefixed:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "These security configs can be dynamically updated only per-listener using the listener prefix: "
            f"{', '.join(unprefixed)}",
        )
    single = [
        name
        for name, key in known.items()
        if key.scope is Scope.PER_BROKER or (_is_of_listener(name) and key.name not in CLUSTER_WIDE)
    ]
    if single and for_all_brokers:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update these configs at default cluster level, broker id must be specified: "
            f"{', '.join(single)}",
        )


def _is_of_listener(name: str) -> bool:
    return name.startswith(LISTENER_PREFIX)


def client_patterns(text: str) -> dict[str, re.Pattern[str]]:
    """The patterns a client must match, by property (KIP-714). ApiError for an illegal one."""
    patterns = {}
    for part in parse_list(text):
        name, separator, pattern = part.partition("=")
        if not separator or name.strip() not in CLIENT_PROPERTIES:
            raise _illegal(part)
        try:
            patterns[name.strip()] = re.compile(pattern.strip())
        except re.error:
            raise _illegal(part) from None
    return patterns


def _illegal(part: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {part}")
