"""The settings of the group coordinator from the broker's configuration, and its fixed limits."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from moldau.core.settings.key import INT_MAX

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60 * 1000
"""While its first JoinGroup waits, a new member has no id for heartbeats, so its session lasts this long."""

PENDING_MEMBERS_MAX: Final = 10_000
"""Ids assigned in one group (KIP-394) to clients that have not joined with them yet."""

TOPICS_CHANGED_DELAY_MS: Final = 100
"""Topics are often created and deleted in bulk; groups check them once."""

OFFSETS_PER_SLICE: Final = 2000
"""Offsets checked in one go in the search for expired ones; other requests wait meanwhile."""


class MigrationPolicy(StrEnum):
    """In which direction groups with members may move between the classic and the consumer protocol
    (KIP-848)."""

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
    """Of one consumer group: its own settings, otherwise the broker's."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    group_size_max: int = INT_MAX
    assignors: tuple[str, ...] = ("uniform", "range")
    """The first is the default."""
    migration: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    regex_refresh_interval_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Kafka's keys and defaults; names differ only by their units."""

    initial_rebalance_delay_ms: int = 3000
    session_timeout_min_ms: int = 6000
    session_timeout_max_ms: int = 1_800_000
    group_size_max: int = INT_MAX
    offset_metadata_length_max: int = 4096
    """`offset.metadata.max.bytes`, which Kafka compares with characters."""
    offsets_retention_ms: int = 10_080 * 60_000
    offsets_retention_check_interval_ms: int = 600_000
    hides_topics: bool = False
    """Whether members may not know of some topics."""
