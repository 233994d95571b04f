"""What a follower does with its leader's answer: append, truncate, start over or retry. Pure.

A log is truncated where its epochs diverge from the leader's (KIP-101, KIP-279, KIP-595), never at the high watermark.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from moldau.core.error_codes import ErrorCode

UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class Store:
    """Append the records, and take over the leader's high watermark and log start."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """Remove everything from this offset on, then fetch again."""

    offset: int


@dataclass(frozen=True, slots=True)
class StartOver:
    """The leader has none of our records any more: continue with an empty log at this offset."""

    offset: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Fetch again later: the leader is not ready yet, or another one is about to be known."""

    reason: ErrorCode


Step = Store | Truncate | StartOver | Retry


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The end of our own log."""

    end_offset: int
    end_offset_for_epoch: Callable[[int], tuple[int, int]]
    """(epoch, end offset) of the largest epoch not above the given one; (-1, -1) if there is none."""


def decide_step(
    log: LogEnd, error: ErrorCode, diverging_epoch: int, diverging_end_offset: int, leader_start_offset: int
) -> Step:
    if error is ErrorCode.OFFSET_OUT_OF_RANGE:
        # An offset past the leader's end is answered as divergence. So ours is before its start, after a long absence.
        return StartOver(leader_start_offset) if leader_start_offset > log.end_offset else Retry(error)
    if error is not ErrorCode.NONE:
        return Retry(error)
    if diverging_end_offset >= 0:
        return Truncate(_common_end(log, diverging_epoch, diverging_end_offset))
    return Store()


def _common_end(log: LogEnd, leader_epoch: int, leader_end_offset: int) -> int:
    """An offset up to which both logs certainly agree. Another round follows if it is not the last one yet."""
    if leader_epoch == UNKNOWN:
        return min(leader_end_offset, log.end_offset)
    epoch, end_offset = log.end_offset_for_epoch(leader_epoch)
    if end_offset == UNKNOWN:
        return min(leader_end_offset, log.end_offset)
    if epoch != leader_epoch:
        return min(end_offset, log.end_offset)
    return min(end_offset, leader_end_offset, log.end_offset)
