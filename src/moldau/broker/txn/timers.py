"""The keys of the coordinator's timers, passed to `decide_timer`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TransactionTimer:
    """A transaction has reached its timeout."""

    transactional_id: str


@dataclass(frozen=True, slots=True)
class ExpirationTimer:
    """The next check for expired transactional ids."""
