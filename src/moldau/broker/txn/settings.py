"""The settings of the transaction coordinator from the broker's configuration, and its fixed limits."""

from dataclasses import dataclass
from typing import Final

PARTITIONS_BYTES_MAX: Final = 900_000
"""The limit for the partitions of one transaction: its record must fit into one batch of 1 MiB."""

EXPIRATIONS_PER_CHECK_MAX: Final = 5_000
"""Transactional ids removed by one check, to keep the write small. The rest follows soon after."""

EXPIRATIONS_PAUSE_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class TxnSettings:
    """Kafka's keys and defaults; names differ only by their units."""

    transaction_timeout_max_ms: int = 900_000
    transactional_id_expiration_ms: int = 604_800_000
    expiration_check_interval_ms: int = 3_600_000
