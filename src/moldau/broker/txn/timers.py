"""The keys of the coordinator's timers: what `decide_timer` is told has come due."""

from typing import NamedTuple


class TransactionTimer(NamedTuple):
    """A transaction has been open for as long as its producer allowed it."""

    transactional_id: str


class ExpirationTimer(NamedTuple):
    """Time to look for transactional ids that nobody uses any more."""
