"""What a follower does with its leader's answer: store, cut back, start over or wait. Pure.

A log is cut where its epochs and the leader's part (KIP-101, KIP-279, KIP-595), never at the high watermark alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from moldau.core.error_codes import ErrorCode

UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class Store:
    """Append what came and follow the leader's high watermark and start."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """Forget everything from this offset on, then ask again."""

    offset: int


@dataclass(frozen=True, slots=True)
class StartOver:
    """Nothing we have is of use any more: go on with an empty log from here."""

    offset: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after a while: the leader is not there yet, or we are to hear of another one."""

    reason: ErrorCode


Step = Store | Truncate | StartOver | Retry


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Our own log, as far as it matters here."""

    end_offset: int
    end_offset_for_epoch: Callable[[int], tuple[int, int]]
    """(epoch, end offset) of the largest epoch not above the given one; (-1, -1) when unknown."""


def decide_step(
    log: LogEnd, error: ErrorCode, diverging_epoch: int, diverging_end_offset: int, leader_start_offset: int
) -> Step:
    if error is ErrorCode.OFFSET_OUT_OF_RANGE:
        # Past the leader's end is answered as divergence: we are before its start, after a long absence.
        return StartOver(leader_start_offset) if leader_start_offset > log.end_offset else Retry(error)
    if error is not ErrorCode.NONE:
        return Retry(error)
    if diverging_end_offset >= 0:
        return Truncate(_common_end(log, diverging_epoch, diverging_end_offset))
    return Store()


def _common_end(log: LogEnd, leader_epoch: int, leader_end_offset: int) -> int:
    """Where both logs surely agree up to; another round follows where that was only a first step back."""
    if leader_epoch == UNKNOWN:
        return min(leader_end_offset, log.end_offset)
    epoch, end_offset = log.end_offset_for_epoch(leader_epoch)
    if end_offset == UNKNOWN:
        return min(leader_end_offset, log.end_offset)
    if epoch != leader_epoch:
        return min(end_offset, log.end_offset)
    return min(end_offset, leader_end_offset, log.end_offset)
