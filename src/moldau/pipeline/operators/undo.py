"""All or nothing: a failure is rolled back with everything that the record did, in all branches.

A batch is first run as a whole. The first failure rolls it back (StartAgain), and it is run again record by record.
Each record is then an attempt of its own: with a savepoint before it, and its held aggregates are emitted after it.
"""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.operators.failures import FAILURES, PASSED_ON, StartAgain
from moldau.pipeline.operators.records import Dropped, Outputs
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.timers import Timers

Place = tuple[int, int]
"""A record: its columns, by identity, and its index in them."""


class Undo:
    def __init__(self, state: TaskState, context: RecordContext, timers: Timers) -> None:
        self._state = state
        self._context = context
        self._timers = timers
        self._marks: list[tuple[Any, ...]] = []
        self.by_record = False
        self.failures: dict[Place, BaseException] = {}
        """Records that failed in earlier attempts."""
        self.held: dict[str, dict[Any, Any]] = {}
        """What collapsing aggregates hold until the end of the batch, by store and key."""
        self.end_batch: Callable[[], None] = _nothing
        """Emits what is held."""

    def until_done(self, work: Callable[[], None], outputs: Callable[[], Outputs]) -> Outputs:
        """Runs the work of a batch. `outputs()` creates the outputs of an attempt. If it raises, nothing changes."""
        self.by_record = False
        self.failures.clear()
        while True:
            self._context.outputs = outputs()
            self.savepoint()
            try:
                work()
            except StartAgain:
                self.rollback()
                self.by_record = True
            except BaseException:
                self.rollback()
                raise
            else:
                self.keep()
                return self._context.outputs

    def attempt(self, action: Callable[..., None], *arguments: Any) -> BaseException | None:
        """Runs an action. If it fails, everything is rolled back and the failure is reported. Attempts nest."""
        self.end_batch()
        self.savepoint()
        try:
            action(*arguments)
            self.end_batch()
        except FAILURES as failure:
            self.rollback()
            if isinstance(failure, PASSED_ON):
                raise
            return failure
        except BaseException:
            self.rollback()
            raise
        self.keep()
        return None

    def savepoint(self) -> None:
        context, outputs = self._context, self._context.outputs
        dropped = {place: (one.count, one.late_ms_max) for place, one in outputs.dropped.items()}
        lengths = len(outputs.records), len(outputs.dead)
        self._marks.append((lengths, dropped, context.stream_time_ms, self._timers.savepoint()))
        self._state.savepoint()

    def keep(self) -> None:
        self._marks.pop()
        self._state.keep()

    def rollback(self) -> None:
        lengths, dropped, self._context.stream_time_ms, schedules = self._marks.pop()
        outputs = self._context.outputs
        del outputs.records[lengths[0] :], outputs.dead[lengths[1] :]
        outputs.dropped = {place: Dropped(*numbers) for place, numbers in dropped.items()}
        self._state.rollback()
        self._timers.rollback(schedules)
        for entries in self.held.values():
            entries.clear()


def _nothing() -> None:
    """Used until the operators are wired."""
