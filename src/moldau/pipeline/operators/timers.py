"""Punctuation: functions called when stream time or wall-clock time has come.

As in Kafka Streams: a schedule by stream time first fires with the first record, then at multiples of its interval; one
by wall clock fires an interval after it was made. A jump over several intervals fires once.

A schedule itself is not part of the state: `init` makes it again wherever the task goes next. What it has come to is:
when a schedule of `init` is due, and that it was cancelled, lie among the task's times. A schedule made while records
are processed is gone with the task, as in Kafka Streams.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

NEVER_MS: Final = 2**63 - 1


class PunctuationType(StrEnum):
    STREAM_TIME = "stream time"
    WALL_CLOCK_TIME = "wall-clock time"


@dataclass(slots=True, eq=False)
class Schedule:
    """`name` is its key among the task's times, empty when it is not kept there."""

    owner: str
    name: str
    interval_ms: int
    callback: Callable[[int], None]
    first_ms: int
    due_ms: int
    turn: int
    """Among schedules due at the same time, the one whose turn was longest ago goes first."""
    timers: "Timers"

    @property
    def cancelled(self) -> bool:
        return self.due_ms == NEVER_MS

    def cancel(self) -> None:
        self.timers.set_due(self, NEVER_MS)


Savepoint = list[tuple[Schedule, int, int]]


class Timers:
    """`times` is the state's: `settle` follows it after it was loaded or taken back."""

    def __init__(self, times: dict[str, int]) -> None:
        self._times = times
        self._turns = 0
        self._schedules: dict[PunctuationType, list[Schedule]] = {kind: [] for kind in PunctuationType}
        self._is_started = False
        self.stream_due_ms = NEVER_MS
        """The earliest of all schedules by stream time: compared with each record."""

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
        number = sum(one.owner == owner for one in schedules)
        name = "" if self._is_started else f"punctuation {owner} {kind} {number}"
        first_ms = 0 if kind is PunctuationType.STREAM_TIME else now_ms + interval_ms
        schedule = Schedule(owner, name, interval_ms, callback, first_ms, first_ms, self._turns, self)
        schedules.append(schedule)
        self._settle_one(schedule)
        self._find_stream_due()
        return schedule

    def started(self) -> None:
        """All processors have been initialised: what is scheduled from here on is not kept in the state."""
        self._is_started = True

    def settle(self) -> None:
        """Takes over what the state says; a schedule it does not know is due when it first was."""
        for schedules in self._schedules.values():
            for schedule in schedules:
                self._settle_one(schedule)
        self._find_stream_due()

    def wanted(self, kind: PunctuationType) -> bool:
        return any(not one.cancelled for one in self._schedules[kind])

    def next_due_ms(self, kind: PunctuationType) -> int | None:
        due_ms = min((one.due_ms for one in self._schedules[kind]), default=NEVER_MS)
        return None if due_ms == NEVER_MS else due_ms

    def due(self, kind: PunctuationType, now_ms: int) -> list[Schedule]:
        """Those to be called, in their order; the caller calls each with `call`."""
        if kind is PunctuationType.WALL_CLOCK_TIME:
            self._follow_clock_back(now_ms)
        due = [one for one in self._schedules[kind] if one.due_ms <= now_ms]
        due.sort(key=lambda one: (one.due_ms, one.turn))
        return due

    def call(self, schedule: Schedule, now_ms: int) -> None:
        if schedule.due_ms > now_ms:
            return  # another callback has cancelled it
        self._turns += 1
        schedule.turn = self._turns
        schedule.callback(now_ms)
        self.miss(schedule, now_ms)

    def miss(self, schedule: Schedule, now_ms: int) -> None:
        """On to its next time."""
        if not schedule.cancelled:
            self.set_due(schedule, _next_due(schedule.due_ms, schedule.interval_ms, now_ms))

    def set_due(self, schedule: Schedule, due_ms: int) -> None:
        schedule.due_ms = due_ms
        if schedule.name:
            self._times[schedule.name] = due_ms
        elif due_ms == NEVER_MS:
            for schedules in self._schedules.values():
                if schedule in schedules:
                    schedules.remove(schedule)
        self._find_stream_due()

    def savepoint(self) -> dict[PunctuationType, Savepoint] | None:
        if not any(self._schedules.values()):
            return None
        return {
            kind: [(one, one.due_ms, one.turn) for one in schedules]
            for kind, schedules in self._schedules.items()
        }

    def rollback(self, savepoint: dict[PunctuationType, Savepoint] | None) -> None:
        """Back to a savepoint; the times are the state's to take back."""
        for kind, schedules in self._schedules.items():
            before = savepoint[kind] if savepoint else []
            for schedule, due_ms, turn in before:
                schedule.due_ms, schedule.turn = due_ms, turn
            schedules[:] = [schedule for schedule, _, _ in before]
        self._find_stream_due()

    def _settle_one(self, schedule: Schedule) -> None:
        if schedule.name:
            schedule.due_ms = self._times.setdefault(schedule.name, schedule.first_ms)

    def _find_stream_due(self) -> None:
        due_ms = self.next_due_ms(PunctuationType.STREAM_TIME)
        self.stream_due_ms = NEVER_MS if due_ms is None else due_ms

    def _follow_clock_back(self, now_ms: int) -> None:
        """A clock that was set back would leave a schedule waiting for longer than its interval."""
        for schedule in self._schedules[PunctuationType.WALL_CLOCK_TIME]:
            if not schedule.cancelled and schedule.due_ms > now_ms + schedule.interval_ms:
                self.set_due(schedule, now_ms + schedule.interval_ms)


def _next_due(due_ms: int, interval_ms: int, now_ms: int) -> int:
    """The first time after now that lies whole intervals after `due_ms`."""
    return due_ms + ((now_ms - due_ms) // interval_ms + 1) * interval_ms
