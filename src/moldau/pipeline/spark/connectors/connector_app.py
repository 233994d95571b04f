"""A connector that runs in a driver process: keeps its tasks running, starts failed ones again, pauses and stops them.

The counterpart of `PipelineApp`, with the same ways to start and stop. A supervising thread compares what is wanted
with what runs.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from py4j.protocol import Py4JError

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.connect.runtime.task_log import log_to_stderr
from moldau.pipeline.connect.runtime.task_settings import TaskSettings
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.connectors.shifts import Shifts, shared_shifts
from moldau.pipeline.spark.connectors.task_orders import TaskReport
from moldau.pipeline.spark.connectors.task_record import WITHOUT_END, TaskRecord
from moldau.pipeline.spark.session import SparkSettings, start_session

STOP_S_MAX: Final = 60.0
"""How long a stop waits for the tasks. One that does not return is abandoned with its process."""
RESTARTS_MAX: Final = "errors.restart.max"

log = logging.getLogger(__name__)


class ConnectorApp:
    def __init__(
        self,
        plan: ConnectorPlan,
        spark: SparkSettings | None = None,
        open_shifts: Callable[[SparkSettings], Shifts] | None = None,
    ) -> None:
        """Raises ConfigError for Spark settings that connectors cannot run with. `open_shifts` is for tests without
        Spark."""
        self.plan = plan
        self._spark = spark or SparkSettings()
        if self._spark.remote:
            raise ConfigError(
                f"connectors cannot run through Spark Connect ({self._spark.remote}): give the worker a master, such "
                "as local[*] or spark://HOST:7077"
            )
        self._open_shifts = open_shifts or _shifts_of_session
        self._state = PipelineState.CREATED
        self._wanted = PipelineState.RUNNING
        self._last_error: str | None = None
        self.spark_is_gone = False
        """The JVM has ended: the connector can only continue in a new process."""
        self._changed = threading.Condition()
        self._tasks: dict[int, TaskRecord] = {}
        self._leaving: set[str] = set()
        """Runs that are to end."""
        self._shifts: Shifts | None = None
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> PipelineState:
        return self._state

    def start(self) -> None:
        """Returns at once."""
        if self._thread is not None:
            raise MoldauError(f"{self.plan.name} has been started already")
        log_to_stderr()
        self._thread = threading.Thread(
            target=self._supervise, name=f"connector-{self.plan.name}", daemon=True
        )
        self._thread.start()

    def pause(self) -> None:
        """Ends the tasks. They go on later from their offsets."""
        self._want(PipelineState.PAUSED)

    def resume(self) -> None:
        self._want(PipelineState.RUNNING)

    def stop(self) -> None:
        """Returns when the tasks have ended."""
        self._want(PipelineState.STOPPED)
        if self._thread is not None:
            self._thread.join(STOP_S_MAX)

    def update(self, plan: ConnectorPlan) -> None:
        """Starts those tasks again for which something has changed. The others go on."""
        with self._changed:
            self.plan = plan
            self._changed.notify_all()

    def status(self) -> dict[str, Any]:
        with self._changed:
            tasks = [self._tasks[number].status() for number in sorted(self._tasks)]
            return {
                "state": self._state,
                "connector": self.plan.name,
                "kind": self.plan.kind,
                "generation": self.plan.generation,
                "last_error": self._last_error,
                "tasks": tasks,
            }

    def _want(self, wanted: PipelineState) -> None:
        with self._changed:
            if self._wanted is not PipelineState.STOPPED:
                self._wanted = wanted
            self._changed.notify_all()

    def _enter(self, state: PipelineState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()

    def _supervise(self) -> None:
        self._enter(PipelineState.STARTING)
        try:
            self._shifts = self._open_shifts(self._spark)
            self._follow(self._shifts)
        except (Py4JError, ConnectionError) as failure:
            self._spark_has_gone(f"Spark's JVM has ended: {failure}")
            self._end_badly(f"Spark's JVM has ended: {failure}")
        except BaseException as failure:
            self._end_badly(f"{type(failure).__name__}: {failure}")
            if not isinstance(failure, MoldauError):
                raise
        else:
            self._enter(PipelineState.STOPPED)

    def _end_badly(self, cause: str) -> None:
        self._last_error = cause
        log.error("the connector %s cannot run: %s", self.plan.name, cause)
        self._enter(PipelineState.FAILED)

    def _spark_has_gone(self, why: str) -> None:
        with self._changed:
            self.spark_is_gone = True
            self._last_error = why
            self._leaving.clear()
            self._changed.notify_all()

    def _follow(self, shifts: Shifts) -> None:
        with self._changed:
            while True:
                if self.spark_is_gone:
                    raise MoldauError(self._last_error or "Spark has ended")
                self._settle(shifts)
                if self._wanted is PipelineState.STOPPED and not self._leaving:
                    return
                self._changed.wait(self._rest_s())

    def _settle(self, shifts: Shifts) -> None:
        """Ends what is not wanted, and starts what is."""
        plan = self.plan
        runs = self._wanted is PipelineState.RUNNING
        resting = "PAUSED" if self._wanted is PipelineState.PAUSED else "STOPPED"
        for number, task in list(self._tasks.items()):
            if number not in plan.tasks:
                self._end(shifts, task, "UNASSIGNED")
                del self._tasks[number]
            elif task.digest != plan.task_digest(number):
                self._end(shifts, task, "UNASSIGNED")
                self._tasks[number] = task.with_plan(plan, restarts_max(plan))
            elif not runs and task.state != resting:
                self._end(shifts, task, resting)
        now_ms = _now_ms()
        # What a source's task reads may move to another one, which goes on at the offsets of the last: they are
        # complete once all that leave have ended. Partitions of a sink are given by its group.
        may_start = runs and (plan.kind == "sink" or not self._leaving)
        for number in plan.tasks:
            task = self._tasks.get(number) or self._new(number)
            if may_start and task.starts(now_ms):
                shifts.start(task.started(), self._hear, self._spark_has_gone)
        self._state = {
            PipelineState.PAUSED: PipelineState.PAUSED,
            PipelineState.STOPPED: self._state,
        }.get(self._wanted, PipelineState.RUNNING)

    def _new(self, number: int) -> TaskRecord:
        task = self._tasks[number] = TaskRecord(self.plan, number, restarts_max(self.plan))
        if self._wanted is PipelineState.PAUSED:
            task.state = "PAUSED"
        return task

    def _end(self, shifts: Shifts, task: TaskRecord, state: str) -> None:
        if task.run is not None:
            self._leaving.add(task.run)
            shifts.end(task.run)
        task.ended(state)

    def _hear(self, report: TaskReport, process: str) -> None:
        """Called by the thread of a lane."""
        with self._changed:
            if report.state.is_over:
                self._leaving.discard(report.run)
            task = self._tasks.get(report.id.number)
            if task is not None:
                before = task.state
                task.heard(report, process, _now_ms())
                if task.state == "FAILED" and before != "FAILED":
                    log.warning("the task %s failed: %s", report.id, task.error)
            if report.state.is_over:
                self._changed.notify_all()

    def _rest_s(self) -> float | None:
        """Until a failed task starts again."""
        due = [task.retry_at_ms for task in self._tasks.values() if task.retry_at_ms is not None]
        return max(0.001, (min(due) - _now_ms()) / 1000) if due else None


def restarts_max(plan: ConnectorPlan) -> int:
    """A wrong setting is reported by the task."""
    text = plan.config.get(RESTARTS_MAX)
    try:
        return (
            WITHOUT_END if text is None else int(TaskSettings.values_of({RESTARTS_MAX: text})[RESTARTS_MAX])
        )
    except ConfigError:
        return WITHOUT_END


def _shifts_of_session(spark: SparkSettings) -> Shifts:
    return shared_shifts(start_session(spark).sparkContext)


def _now_ms() -> int:
    return int(time.time() * 1000)
