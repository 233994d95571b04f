"""The keys of the coordinator's timers: what `decide_timer` is told has come due."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TransactionTimer:
    """A transaction has been open for as long as its producer allowed it."""

    transactional_id: str


@dataclass(frozen=True, slots=True)
class ExpirationTimer:
    """Time to look for transactional ids that nobody uses any more."""
