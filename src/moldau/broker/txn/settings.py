"""What the transaction coordinator is told by the broker's configuration, and the limits it sets itself."""

from dataclasses import dataclass
from typing import Final

PARTITIONS_BYTES_MAX: Final = 900_000
"""What the partitions of one transaction may take in its record, which has to fit into one batch of 1 MiB."""

EXPIRATIONS_PER_CHECK_MAX: Final = 5_000
"""Transactional ids dropped by one check; one write stays small. What is left follows soon after."""

EXPIRATIONS_PAUSE_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class TxnSettings:
    """Kafka's keys and defaults; names differ by their units only."""

    transaction_timeout_max_ms: int = 900_000
    transactional_id_expiration_ms: int = 604_800_000
    expiration_check_interval_ms: int = 3_600_000
