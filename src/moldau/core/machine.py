"""What every coordinator returns: facts, then answers and timers.

A machine *decides* by reading its state. The only method that changes the state is `replay`, which takes one fact. A
runner owns clock, disk and sockets: it writes the durable facts to the log, replays all facts, and releases the
answers once what was written is committed. Loading after a failover is the same `replay`.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from moldau.core.ids import Millis

Fact = TypeVar("Fact")


@dataclass(frozen=True, slots=True)
class Answer:
    """For the request that came with this id; it may have been waiting for a while."""

    request_id: int
    reply: object


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Calls `decide_timer(key, now)` at the deadline. A second one of the same key replaces the first."""

    key: Hashable
    deadline_ms: Millis


@dataclass(frozen=True, slots=True)
class CancelTimer:
    key: Hashable


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Fact]):
    facts: tuple[Fact, ...] = ()
    answers: tuple[Answer, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
