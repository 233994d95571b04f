"""What the group coordinator is told by the broker's configuration, and the limits it sets itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from moldau.core.settings.key import INT_MAX

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60 * 1000
"""A new member knows no id to send heartbeats with while its first JoinGroup waits, so it gets this long."""

PENDING_MEMBERS_MAX: Final = 10_000
"""Ids given out in one group (KIP-394) to clients that have not come back with them."""

TOPICS_CHANGED_DELAY_MS: Final = 100
"""Topics come and go by the dozen; groups look at them once."""

OFFSETS_PER_SLICE: Final = 2000
"""Offsets looked at in one go when expired ones are searched for; nobody else is served meanwhile."""


class MigrationPolicy(StrEnum):
    """Which way groups with members may move between the classic and the new protocol (KIP-848)."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"

    @property
    def allows_upgrade(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)

    @property
    def allows_downgrade(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """Of one consumer group: its own where it has any, else the broker's."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    group_size_max: int = INT_MAX
    assignors: tuple[str, ...] = ("uniform", "range")
    """The first is for groups whose members do not care."""
    migration: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    regex_refresh_interval_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Kafka's keys and defaults; names differ by their units only."""

    initial_rebalance_delay_ms: int = 3000
    session_timeout_min_ms: int = 6000
    session_timeout_max_ms: int = 1_800_000
    group_size_max: int = INT_MAX
    offset_metadata_length_max: int = 4096
    """`offset.metadata.max.bytes`, which Kafka holds against characters."""
    offsets_retention_ms: int = 10_080 * 60_000
    offsets_retention_check_interval_ms: int = 600_000
