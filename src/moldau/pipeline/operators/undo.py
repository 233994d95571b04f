"""All or nothing: what fails is taken back with everything it did, in whatever branch.

A batch is first run as a whole. The first failure takes all of it back (StartAgain), and it is run again record by
record: each is then an attempt of its own, with a savepoint before it and its held aggregates told after it.
"""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.operators.failures import FAILURES, PASSED_ON, StartAgain
from moldau.pipeline.operators.records import Dropped, Outputs
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.timers import Timers

Place = tuple[int, int]
"""Of a record: which columns, by identity, and the index in them."""


class Undo:
    def __init__(self, state: TaskState, context: RecordContext, timers: Timers) -> None:
        self._state = state
        self._context = context
        self._timers = timers
        self._marks: list[tuple[Any, ...]] = []
        self.by_record = False
        self.failures: dict[Place, BaseException] = {}
        """Records known to fail, by the attempts before."""
        self.held: dict[str, dict[Any, Any]] = {}
        """What collapsing aggregates hold back until the batch ends, by store and key."""
        self.end_batch: Callable[[], None] = _nothing
        """Tells what is held."""

    def until_done(self, work: Callable[[], None], outputs: Callable[[], Outputs]) -> Outputs:
        """Runs the work of a batch; `outputs` gives what each attempt begins with. If it raises, nothing is changed."""
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
        """Runs an action; if it fails nothing of it remains, and the failure is told. Attempts nest."""
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
    """Until the operators are wired."""
