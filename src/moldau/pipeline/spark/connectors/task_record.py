"""What the driver knows of one task: its run, its failures, when it starts again. Pure: time is an argument."""

import re
import uuid
from dataclasses import dataclass, field, replace
from typing import Any, Final

from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.lifecycle import BackOff
from moldau.pipeline.spark.connectors.task_orders import RunState, TaskOrder, TaskReport

SETTLED_MS: Final = 30_000
"""A task that has run this long is well: the next failure counts as the first."""
WITHOUT_END: Final = -1
FENCED_MS: Final = 10_000
"""What a task reads that was fenced may be another one's by now, and this worker may hear of that later."""
_FENCED: Final = re.compile("fence|old epoch")


@dataclass
class TaskRecord:
    plan: ConnectorPlan
    number: int
    restarts_max: int = WITHOUT_END
    """In a row, of a task that fails."""
    run: str | None = None
    """None: it does not run."""
    state: str = "UNASSIGNED"
    """As Kafka Connect names it."""
    error: str | None = None
    trace: str = ""
    """Of the last failure. Kept while the task starts again, until it is well."""
    retrying: str | None = None
    restarts: int = 0
    retry_at_ms: int | None = None
    lag: int | None = None
    topics: tuple[str, ...] = ()
    """Those it has read or written since it was created."""
    process: str = ""
    back_off: BackOff = field(default_factory=BackOff)
    _running_since_ms: int | None = None
    _before: tuple[int, int, int] = (0, 0, 0)
    """Counters of earlier runs."""
    _now: tuple[int, int, int] = (0, 0, 0)

    @property
    def digest(self) -> str:
        return self.plan.task_digest(self.number)

    def starts(self, now_ms: int) -> bool:
        """Whether it is time to start a run."""
        if self.run is not None:
            return False
        return self.state != "FAILED" or (self.retry_at_ms is not None and now_ms >= self.retry_at_ms)

    def started(self) -> TaskOrder:
        self.run = uuid.uuid4().hex
        self.retry_at_ms = None
        if self.state != "FAILED":
            self.state = "UNASSIGNED"
        return TaskOrder(self.plan, self.number, self.run)

    def ended(self, state: str) -> None:
        """The run is not wanted any more."""
        self._count()
        self.run, self.state, self.process = None, state, ""
        self.error, self.trace, self.retrying, self.retry_at_ms = None, "", None, None
        self.lag = None
        self.back_off.progressed()

    def heard(self, report: TaskReport, process: str, now_ms: int) -> None:
        if report.run != self.run:
            return
        self.process = process
        self.retrying = report.retrying
        self.lag = report.lag
        self.topics = tuple(sorted({*self.topics, *report.topics}))
        if report.state is not RunState.LOST:
            self._now = (report.polled, report.written, report.failed)
        match report.state:
            case RunState.RUNNING:
                self._is_running(now_ms)
            case RunState.FAILED:
                self._has_failed(report, now_ms)
            case RunState.LOST | RunState.ENDED:
                # Not the task's fault: it starts again at once.
                self._count()
                self.run, self.process = None, ""
                self.restarts += 1
                if self.state != "FAILED":
                    self.state = "UNASSIGNED"
                else:
                    self.retry_at_ms = now_ms

    def _is_running(self, now_ms: int) -> None:
        if self._running_since_ms is None:
            self._running_since_ms = now_ms
        self.state = "RUNNING"
        if now_ms - self._running_since_ms >= SETTLED_MS:
            self.back_off.progressed()
            self.error, self.trace = None, ""

    def _has_failed(self, report: TaskReport, now_ms: int) -> None:
        self._count()
        self.run, self.process, self.retrying, self.lag = None, "", None, None
        self.state, self.error, self.trace = "FAILED", report.error, report.trace
        wait_ms = self.back_off.failed()
        if _FENCED.search(report.error or ""):
            wait_ms = max(wait_ms, FENCED_MS)
        if self.restarts_max in (WITHOUT_END,) or self.back_off.attempts <= self.restarts_max:
            self.retry_at_ms = now_ms + wait_ms
            self.restarts += 1
        else:
            self.retry_at_ms = None

    def _count(self) -> None:
        self._before = tuple(map(sum, zip(self._before, self._now, strict=True)))  # type: ignore[assignment]
        self._now = (0, 0, 0)
        self._running_since_ms = None

    def with_plan(self, plan: ConnectorPlan, restarts_max: int) -> "TaskRecord":
        return replace(self, plan=plan, restarts_max=restarts_max)

    def status(self) -> dict[str, Any]:
        polled, written, failed = map(sum, zip(self._before, self._now, strict=True))
        return {
            "task": self.number,
            "state": self.state,
            "error": self.error,
            "trace": self.trace,
            "retrying": self.retrying,
            "restarts": self.restarts,
            "retry_at_ms": self.retry_at_ms,
            "polled": polled,
            "written": written,
            "failed": failed,
            "lag": self.lag,
            "topics": list(self.topics),
            "process": self.process,
            "generation": self.plan.generation,
            "task_generation": self.plan.task_generations.get(self.number, 0),
        }
