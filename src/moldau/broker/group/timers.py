"""The keys of the coordinator's timers, passed to `decide_timer`.

Not tuples: keys of different kinds must never be equal.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionTimer:
    """A member's session timeout; also the timeout of an assigned id that was not used."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class JoinTimer:
    """The end of the join phase: the initial delay, or the members' rebalance timeout."""

    group_id: str


@dataclass(frozen=True, slots=True)
class SyncTimer:
    """Members of a new generation have not sent SyncGroup."""

    group_id: str


@dataclass(frozen=True, slots=True)
class RebalanceTimer:
    """A member of a consumer group has not given up partitions, or a classic one has not taken its next
    step."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class TopicsTimer:
    """Topics have changed. The delay collects further changes."""


@dataclass(frozen=True, slots=True)
class RetentionTimer:
    """The next slice of the search for expired offsets, starting after this group."""

    after_group_id: str | None = None
