"""The states of a transactional id, their transitions, and what EndTxn means in each: all as data.

Owns the tables. Knows nothing of requests, records or time.
"""

from collections.abc import Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Final

from moldau.core.error_codes import ErrorCode

EPOCH_MAX: Final = 32_767
CLIENT_EPOCH_MAX: Final = EPOCH_MAX - 1
"""The last epoch a client may get: one more is reserved to fence its producer."""

EPOCH_BUMP_VERSION: Final = 2
"""From this transaction version on every end of a transaction raises the epoch (KIP-890)."""


class TxnState(IntEnum):
    """Numbered as in the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    """Decided and durable; the markers are being written."""
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    """All markers are written."""
    COMPLETE_ABORT = 5
    DEAD = 6
    """Expired. Kafka uses it on the way to a tombstone; it is never written."""
    PREPARE_EPOCH_FENCE = 7
    """Kafka uses it on the way to PREPARE_ABORT, when another producer or a timeout ends a transaction; it is
    never written."""

    @property
    def label(self) -> str:
        """The name in DescribeTransactions and ListTransactions."""
        return self.name.title().replace("_", "")


_S = TxnState

ENDING: Final = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
AT_REST: Final = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
"""No transaction is open: the next may begin, and the id may expire."""

PREVIOUS: Final[Mapping[TxnState, frozenset[TxnState]]] = MappingProxyType(
    {
        _S.EMPTY: AT_REST,
        _S.ONGOING: AT_REST | {_S.ONGOING},
        _S.PREPARE_COMMIT: frozenset({_S.ONGOING}),
        # Also from rest: a client of transactions v2 aborts when it cannot know whether its first write
        # arrived.
        _S.PREPARE_ABORT: AT_REST | {_S.ONGOING, _S.PREPARE_EPOCH_FENCE},
        _S.COMPLETE_COMMIT: frozenset({_S.PREPARE_COMMIT}),
        _S.COMPLETE_ABORT: frozenset({_S.PREPARE_ABORT}),
        _S.DEAD: AT_REST,
        _S.PREPARE_EPOCH_FENCE: frozenset({_S.ONGOING}),
    }
)

COMPLETED: Final[Mapping[TxnState, TxnState]] = MappingProxyType(
    {_S.PREPARE_COMMIT: _S.COMPLETE_COMMIT, _S.PREPARE_ABORT: _S.COMPLETE_ABORT}
)


class End(Enum):
    """The effect of EndTxn when it is not rejected."""

    NOW = "ends the transaction"
    DONE_BEFORE = "was done before: the answer got lost"


EndVerdict = End | ErrorCode

_ILLEGAL = ErrorCode.INVALID_TXN_STATE
_WAIT = ErrorCode.CONCURRENT_TRANSACTIONS

END_V1: Final[Mapping[TxnState, tuple[EndVerdict, EndVerdict]]] = MappingProxyType(
    {
        # state: (abort, commit), both of the current epoch; any other is fenced.
        _S.EMPTY: (_ILLEGAL, _ILLEGAL),
        _S.ONGOING: (End.NOW, End.NOW),
        _S.PREPARE_COMMIT: (_ILLEGAL, _WAIT),
        _S.PREPARE_ABORT: (_WAIT, _ILLEGAL),
        _S.COMPLETE_COMMIT: (_ILLEGAL, End.DONE_BEFORE),
        _S.COMPLETE_ABORT: (End.DONE_BEFORE, _ILLEGAL),
    }
)

END_V2: Final[Mapping[tuple[TxnState, bool], tuple[EndVerdict, EndVerdict]]] = MappingProxyType(
    {
        # (state, retried): (abort, commit). Retried: with the epoch before the one that the end has raised.
        # A missing entry is fenced: a delayed EndTxn never touches the next transaction (KIP-890).
        (_S.EMPTY, False): (End.NOW, _ILLEGAL),
        (_S.ONGOING, False): (End.NOW, End.NOW),
        (_S.PREPARE_COMMIT, True): (_ILLEGAL, _WAIT),
        (_S.PREPARE_ABORT, True): (_WAIT, _ILLEGAL),
        (_S.COMPLETE_COMMIT, False): (End.NOW, _ILLEGAL),
        (_S.COMPLETE_COMMIT, True): (_ILLEGAL, End.DONE_BEFORE),
        (_S.COMPLETE_ABORT, False): (End.NOW, _ILLEGAL),
        (_S.COMPLETE_ABORT, True): (End.DONE_BEFORE, _ILLEGAL),
    }
)
