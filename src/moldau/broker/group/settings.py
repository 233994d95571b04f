"""What the group coordinator is told by the broker's configuration, under Kafka's names."""

from dataclasses import dataclass
from typing import Final

from moldau.core.settings.key import INT_MAX

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60 * 1000
"""A new member knows no id to send heartbeats with while its first JoinGroup waits, so it gets this long."""

PENDING_MEMBERS_MAX: Final = 10_000
"""Ids given out in one group (KIP-394) to clients that have not come back with them."""

REMOVALS_PER_CHECK_MAX: Final = 5_000
"""Offsets dropped by one retention check; the rest waits for the next, so that one write stays small."""


@dataclass(frozen=True, slots=True)
class GroupSettings:
    initial_rebalance_delay_ms: int = 3000
    session_timeout_min_ms: int = 6000
    session_timeout_max_ms: int = 1_800_000
    group_size_max: int = INT_MAX
    offset_metadata_bytes_max: int = 4096
    offsets_retention_ms: int = 10_080 * 60_000
    offsets_retention_check_interval_ms: int = 600_000
