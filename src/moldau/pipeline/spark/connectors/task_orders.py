"""What the driver sends to a worker for a shift, and what the worker reports. Plain data."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from moldau.pipeline.connect.runtime.plan import ConnectorPlan


class TaskId(NamedTuple):
    connector: str
    number: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.number}"


@dataclass(frozen=True)
class TaskOrder:
    """A task that is to run."""

    plan: ConnectorPlan
    number: int
    run: str
    """New with each start of the task: a worker that has another run of it ends that first."""
    holder: str = ""
    """The process that has the run. Empty: it has not been started. Another process leaves it alone."""

    @property
    def id(self) -> TaskId:
        return TaskId(self.plan.name, self.number)


@dataclass(frozen=True)
class ShiftOrder:
    """All tasks that are to run in the lane. Others are to end."""

    tasks: tuple[TaskOrder, ...]
    lasts_s: float


class RunState(StrEnum):
    """Of one run of a task."""

    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    ENDED = "ended"
    """It was not wanted any more, and has released everything."""
    LOST = "lost"
    """Its process has ended. Said by the driver, not by workers."""

    @property
    def is_over(self) -> bool:
        return self in (RunState.FAILED, RunState.ENDED, RunState.LOST)


@dataclass
class TaskReport:
    id: TaskId
    run: str
    state: RunState
    error: str | None = None
    trace: str = ""
    retrying: str | None = None
    """What fails at the moment and is tried again."""
    polled: int = 0
    """Records from the source, or from Kafka. Of this run, as the next two."""
    written: int = 0
    failed: int = 0
    """Records that could not be processed, and were skipped."""
    lag: int | None = None
    """Of a sink: records not read yet. None: not known."""
    topics: tuple[str, ...] = ()
    """Those it has read or written, in alphabetical order."""


@dataclass
class ShiftReport:
    holder: str
    """The process that ran it."""
    tasks: list[TaskReport] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    """Runs that another process has."""
