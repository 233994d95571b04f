"""The keys of quotas, and whose they can be."""

import math
from collections.abc import Mapping
from typing import Final

USER: Final = "user"
CLIENT: Final = "client-id"
ADDRESS: Final = "ip"

PRODUCE: Final = "producer_byte_rate"
FETCH: Final = "consumer_byte_rate"
REQUEST: Final = "request_percentage"
MUTATION: Final = "controller_mutation_rate"
CONNECTION: Final = "connection_creation_rate"

Part = tuple[str, str | None]
"""USER, CLIENT or ADDRESS, and a name; None stands for all without a quota of their own."""
Entity = tuple[Part, ...]
"""An address, a client, a user, or a user and a client in this order."""


CLIENT_KEYS: Final = frozenset({PRODUCE, FETCH, REQUEST, MUTATION})
"""Of users and clients."""
ADDRESS_KEYS: Final = frozenset({CONNECTION})
LARGEST_WHOLE: Final[Mapping[str, int]] = {PRODUCE: 2**63 - 1, FETCH: 2**63 - 1, CONNECTION: 2**31 - 1}
"""The keys of which only whole numbers make sense."""


def quota_values(texts: Mapping[str, str]) -> dict[str, float]:
    """The quotas among the settings of an entity. What somebody else wrote and is no number is left out."""
    values = {}
    for key in CLIENT_KEYS | ADDRESS_KEYS:
        try:
            values[key] = float(texts[key])
        except (KeyError, ValueError):
            continue
    return {key: value for key, value in values.items() if math.isfinite(value)}


def quota_text(key: str, value: float) -> str:
    return str(round(value)) if key in LARGEST_WHOLE else repr(value)
