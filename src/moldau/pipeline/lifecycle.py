"""The lifecycle of a pipeline: its states, the back-off before a restart, its metrics.

Pure: no thread, clock or Spark here. A supervisor asks what to do next and does it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

BACK_OFF_MS_MIN: Final = 500
BACK_OFF_MS_MAX: Final = 60_000


class PipelineState(StrEnum):
    CREATED = "created"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    FAILED = "failed"
    STOPPED = "stopped"


class Verdict(StrEnum):
    RETRY = "retry"
    GIVE_UP = "give up"


@dataclass(slots=True)
class BackOff:
    """Doubles with each failure, up to a minute. A successful batch resets it."""

    attempts: int = 0

    def progressed(self) -> None:
        """The pipeline has recovered: the next failure counts as the first."""
        self.attempts = 0

    def failed(self) -> int:
        """Returns how long to wait before the next start."""
        self.attempts += 1
        wait_ms: int = BACK_OFF_MS_MIN << min(self.attempts - 1, 16)
        return min(wait_ms, BACK_OFF_MS_MAX)


@dataclass(slots=True)
class PipelineMetrics:
    """What REST, command line and console show. Rates cover the last seconds.

    The counters (batches, records, restarts) begin at 0 whenever the application is started in a process: a restart of
    Spark's JVM starts a new process. `counting_since_ms` says when that was.
    """

    state: PipelineState = PipelineState.CREATED
    counting_since_ms: int = 0
    batches: int = 0
    batches_skipped: int = 0
    records_in: int = 0
    records_out: int = 0
    records_dead: int = 0
    records_dropped: int = 0
    """Records that an operator dropped: late, without a key, or skipped by an error handler."""
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)
    """Operator and reason to the number of records and the largest lateness in milliseconds."""
    records_in_per_s: float = 0.0
    records_out_per_s: float = 0.0
    lag_records: int | None = None
    """Records not read yet. None: not known, because nobody has asked the brokers yet."""
    lag_ms: int | None = None
    """Age of the newest record read while there are unread records, else 0. None: not known."""
    batch_ms: int = 0
    batch_id: int = -1
    restarts: int = 0
    retry_at_ms: int = 0
    """The time of the next start, while it waits for that. Else 0."""
    last_error: str | None = None
    worker_ms: dict[str, int] = field(default_factory=dict)
    """How long the phases of the last batch took: reading, tasks, state, writing."""
    transform_ms: dict[str, int] = field(default_factory=dict)
    """How long the last batch of each `transform` took."""
