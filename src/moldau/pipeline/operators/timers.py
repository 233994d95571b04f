"""Punctuation: functions called when stream time or wall-clock time has come.

As in Kafka Streams: a schedule by stream time first fires with the first record, then at multiples of its interval; one
by wall clock fires an interval after it was made. A jump over several intervals fires once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class PunctuationType(StrEnum):
    STREAM_TIME = "stream time"
    WALL_CLOCK_TIME = "wall-clock time"


@dataclass(slots=True)
class Schedule:
    """`name` is its key among the task's times: when it is next due survives with the task's state."""

    name: str
    interval_ms: int
    callback: Callable[[int], None]
    turn: int
    """Among schedules due at the same time, the one whose turn was longest ago goes first."""
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class Timers:
    def __init__(self, times: dict[str, int]) -> None:
        self._times = times
        self._turns = 0
        self._schedules: dict[PunctuationType, list[Schedule]] = {kind: [] for kind in PunctuationType}

    def schedule(
        self,
        owner: str,
        interval_ms: int,
        kind: PunctuationType,
        callback: Callable[[int], None],
        now_ms: int,
    ) -> Schedule:
        if interval_ms < 1:
            raise ValueError(
                f"a punctuation of {owner} every {interval_ms} ms: the interval must be at least 1 ms"
            )
        schedules = self._schedules[kind]
        self._turns += 1
        schedule = Schedule(
            f"punctuation {owner} {kind} {len(schedules)}", interval_ms, callback, self._turns
        )
        schedules.append(schedule)
        first = 0 if kind is PunctuationType.STREAM_TIME else now_ms + interval_ms
        self._times.setdefault(schedule.name, first)
        return schedule

    def wanted(self, kind: PunctuationType) -> bool:
        return bool(self._schedules[kind])

    def fire(self, kind: PunctuationType, now_ms: int) -> bool:
        """Calls what is due; says whether anything was."""
        fired = False
        times = self._times
        for schedule in sorted(self._schedules[kind], key=lambda one: (times[one.name], one.turn)):
            due_ms = times[schedule.name]
            if schedule.cancelled or due_ms > now_ms:
                continue
            fired = True
            self._turns += 1
            schedule.turn = self._turns
            schedule.callback(now_ms)
            times[schedule.name] = _next_due(due_ms, schedule.interval_ms, now_ms)
        return fired


def _next_due(due_ms: int, interval_ms: int, now_ms: int) -> int:
    """The first time after now that lies whole intervals after `due_ms`."""
    return due_ms + ((now_ms - due_ms) // interval_ms + 1) * interval_ms
