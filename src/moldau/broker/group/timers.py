"""The keys of the coordinator's timers: what `decide_timer` is told has come due.

Not tuples: two of different kinds must never be equal.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionTimer:
    """A member has not been heard of; or an id given out was not used."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class JoinTimer:
    """The join phase has lasted long enough: the initial delay, or the members' rebalance timeout."""

    group_id: str


@dataclass(frozen=True, slots=True)
class SyncTimer:
    """Members of a new generation have not asked for their assignment."""

    group_id: str


@dataclass(frozen=True, slots=True)
class RebalanceTimer:
    """A member of a consumer group has not given up partitions; or one of the classic protocol has not sent what
    comes next."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class TopicsTimer:
    """Topics have changed, and for a moment no more of them."""


@dataclass(frozen=True, slots=True)
class RetentionTimer:
    """Time to look for expired offsets, in the groups after this one: they are gone through in slices."""

    after_group_id: str | None = None
