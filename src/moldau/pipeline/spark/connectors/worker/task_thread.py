"""A task's thread, which goes on from shift to shift: makes the run of a source or a sink, and tells how it ends."""

import logging
import threading
import traceback
from collections.abc import Callable
from typing import Protocol

from confluent_kafka import KafkaException

from moldau.pipeline.connect.runtime.secrets import unresolved_text
from moldau.pipeline.connect.runtime.task_log import hidden_in_log
from moldau.pipeline.spark.connectors.task_orders import RunState, TaskOrder, TaskReport
from moldau.pipeline.spark.connectors.worker.progress import Abandoned, Progress
from moldau.pipeline.spark.connectors.worker.sink_run import SinkRun
from moldau.pipeline.spark.connectors.worker.source_run import SourceRun
from moldau.pipeline.spark.connectors.worker.task_parts import TaskParts

log = logging.getLogger(__name__)


class Run(Protocol):
    def run(self) -> None:
        """Returns when the task is to stop. Raises what it fails with."""

    def abandon(self) -> None:
        """Called from another thread: `run` does not return. Releases what would keep another run from working."""


class TaskThread:
    def __init__(self, order: TaskOrder, news: Callable[[], None] = lambda: None) -> None:
        self.id, self.run_id = order.id, order.run
        self.progress = Progress(news, str(order.id))
        self._order = order
        self._run: Run | None = None
        self._mask: Callable[[str], str] = str
        self._thread = threading.Thread(target=self._work, name=f"connect-{order.id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        self.progress.ask_to_stop()

    def abandon(self) -> None:
        self.progress.abandon()
        run = self._run
        if run is not None:
            # It may wait for the call that does not return.
            threading.Thread(target=run.abandon, name=f"abandon-{self.id}", daemon=True).start()

    @property
    def is_over(self) -> bool:
        return self.progress.state.is_over

    def report(self) -> TaskReport:
        progress = self.progress
        if progress.fail_stuck(self._thread):
            self.abandon()
        return TaskReport(
            self.id,
            self.run_id,
            progress.state,
            error=progress.error,
            trace=progress.trace,
            retrying=self._mask(progress.retrying) if progress.retrying else None,
            polled=progress.polled,
            written=progress.written,
            failed=progress.failed,
            lag=progress.lag,
            topics=progress.topics,
        )

    def _work(self) -> None:
        progress = self.progress
        try:
            parts = TaskParts.of(self._order.plan, self._order.number)
            self._mask = parts.resolved.mask
            with hidden_in_log(parts.resolved.secrets):
                self._run_task(parts)
        except Abandoned:
            log.info("%s: an abandoned run has ended", self.id)
        except BaseException as failure:  # noqa: BLE001 reported to the driver, which starts the task again
            trace, plan = traceback.format_exc(), self._order.plan
            if hint := unresolved_text(plan.config, plan.providers):
                trace = f"{trace.rstrip()}\n{hint}"
            progress.enter(RunState.FAILED, self._mask(_text_of(failure)), self._mask(trace))
        else:
            progress.enter(RunState.ENDED)

    def _run_task(self, parts: TaskParts) -> None:
        self.progress.call_s_max = parts.settings.call_ms_max / 1000
        kind = SourceRun if self._order.plan.kind == "source" else SinkRun
        self._run = kind(parts, self.progress)
        self._run.run()


def _text_of(failure: BaseException) -> str:
    if isinstance(failure, KafkaException):
        return f"Kafka: {failure.args[0].str()}"
    return f"{type(failure).__name__}: {failure}"
