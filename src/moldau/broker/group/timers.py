"""The keys of the coordinator's timers: what `decide_timer` is told has come due."""

from typing import NamedTuple


class SessionTimer(NamedTuple):
    """A member has not been heard of; or an id given out was not used."""

    group_id: str
    member_id: str


class JoinTimer(NamedTuple):
    """The join phase has lasted long enough: the initial delay, or the members' rebalance timeout."""

    group_id: str


class SyncTimer(NamedTuple):
    """Members of a new generation have not asked for their assignment."""

    group_id: str


class RetentionTimer(NamedTuple):
    """Time to look for expired offsets, in the groups after this one: they are gone through in slices."""

    after_group_id: str | None = None
