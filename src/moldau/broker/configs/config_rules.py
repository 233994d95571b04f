"""Rules for dynamic settings beyond the validity of each value. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import Scope
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


def check_dynamic(texts: Mapping[str, str], *, for_all_brokers: bool) -> None:
    """Only some broker settings can change at runtime, and some of those only for a single broker."""
    for name in texts:
        if name not in BrokerSettings.KEYS:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"Unknown broker config name: {name}{nearest_text(name, BrokerSettings.KEYS)}",
            )
    fixed = [name for name in texts if BrokerSettings.KEYS[name].scope is Scope.STATIC]
    if fixed:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update these configs dynamically: {', '.join(fixed)}. Change them in the broker's file "
            "and restart it.",
        )
    single = [name for name in texts if BrokerSettings.KEYS[name].scope is Scope.PER_BROKER]
    if single and for_all_brokers:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update these configs at default cluster level, broker id must be specified: "
            f"{', '.join(single)}",
        )


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
