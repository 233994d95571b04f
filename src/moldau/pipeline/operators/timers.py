"""Punctuation: functions that are called at a stream time or a wall-clock time.

As in Kafka Streams: a stream-time schedule first fires with the first record, then at multiples of its interval. A
wall-clock schedule first fires one interval after it was created. A jump over several intervals fires once.

A schedule itself is not part of the state: `init` creates it again wherever the task runs next. Its progress is part of
the state: the due time of a schedule of `init`, and whether it was cancelled. A schedule that was created while records
were processed disappears with the task, as in Kafka Streams.
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
    """`name` is its key among the task's times. Empty if it is not kept there."""

    owner: str
    name: str
    interval_ms: int
    callback: Callable[[int], None]
    first_ms: int
    due_ms: int
    turn: int
    """Of schedules that are due at the same time, the one that fired longest ago is first."""
    timers: "Timers"

    @property
    def cancelled(self) -> bool:
        return self.due_ms == NEVER_MS

    def cancel(self) -> None:
        self.timers.set_due(self, NEVER_MS)


Savepoint = list[tuple[Schedule, int, int]]


class Timers:
    """`times` belongs to the state. `settle` reads it after it was loaded or rolled back."""

    def __init__(self, times: dict[str, int]) -> None:
        self._times = times
        self._turns = 0
        self._schedules: dict[PunctuationType, list[Schedule]] = {kind: [] for kind in PunctuationType}
        self._is_started = False
        self.stream_due_ms = NEVER_MS
        """The due time of the earliest stream-time schedule, which is compared with each record."""

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
        """All processors have been initialised: later schedules are not kept in the state."""
        self._is_started = True

    def settle(self) -> None:
        """Reads the due times from the state. A schedule that is not there is due at its first time."""
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
        """The schedules that are due, in their order. The caller runs each with `call`."""
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
        """Moves the schedule to its next time."""
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
        """Rolls back to a savepoint. The state rolls back the times."""
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
        """If the clock was set back, a schedule must not wait for longer than its interval."""
        for schedule in self._schedules[PunctuationType.WALL_CLOCK_TIME]:
            if not schedule.cancelled and schedule.due_ms > now_ms + schedule.interval_ms:
                self.set_due(schedule, now_ms + schedule.interval_ms)


def _next_due(due_ms: int, interval_ms: int, now_ms: int) -> int:
    """The first time after now that is a whole number of intervals after `due_ms`."""
    return due_ms + ((now_ms - due_ms) // interval_ms + 1) * interval_ms
