"""The tasks of this worker process. A shift starts and ends them as ordered, waits a while, and reports.

Their threads go on between shifts. When no shift comes for LEASE_S, the driver has lost this process: the threads end,
because the tasks may run elsewhere.
"""

import gc
import logging
import threading
import time
from typing import Final

from moldau.pipeline.connect.runtime.task_log import log_to_stderr
from moldau.pipeline.spark.connectors.task_orders import RunState, ShiftOrder, ShiftReport, TaskId
from moldau.pipeline.spark.connectors.worker.task_thread import TaskThread
from moldau.pipeline.spark.worker.slots import this_process

LEASE_S: Final = 20.0
LOOK_EVERY_S: Final = 1.0
ALLOCATIONS_PER_COLLECTION: Final = 200_000
"""Records are many objects without cycles."""

log = logging.getLogger(__name__)


class Crew:
    """`run` is called by one thread at a time."""

    def __init__(self) -> None:
        self._running: dict[TaskId, TaskThread] = {}
        self._ending: list[TaskThread] = []
        self._news = threading.Event()
        self._seen_at = time.monotonic()
        self._watch: threading.Thread | None = None

    def run(self, order: ShiftOrder) -> ShiftReport:
        self._seen_at = time.monotonic()
        self._start_watch()
        here = this_process()
        self._news.clear()
        wanted = {one.id: one.run for one in order.tasks}
        for task, thread in list(self._running.items()):
            if wanted.get(task) != thread.run_id:
                thread.ask_to_stop()
                self._ending.append(self._running.pop(task))
        report = ShiftReport(here)
        for one in order.tasks:
            if one.holder not in ("", here):
                report.elsewhere.append(one.run)
            elif one.id not in self._running and not any(thread.id == one.id for thread in self._ending):
                thread = self._running[one.id] = TaskThread(one, self._news.set)
                thread.start()
        threads = [*self._running.values(), *self._ending]
        if not any(thread.is_over for thread in threads):
            self._news.wait(order.lasts_s)
        report.tasks = [thread.report() for thread in threads]
        self._forget({one.run for one in report.tasks if one.state.is_over})
        self._seen_at = time.monotonic()
        return report

    def _forget(self, runs: set[str]) -> None:
        self._running = {task: one for task, one in self._running.items() if one.run_id not in runs}
        self._ending = [one for one in self._ending if one.run_id not in runs]

    def _start_watch(self) -> None:
        if self._watch is None or not self._watch.is_alive():
            gc.set_threshold(ALLOCATIONS_PER_COLLECTION, 20, 100)
            self._watch = threading.Thread(target=self._watch_lease, name="connect-lease", daemon=True)
            self._watch.start()

    def _watch_lease(self) -> None:
        while time.monotonic() - self._seen_at < LEASE_S:
            time.sleep(LOOK_EVERY_S)
        for thread in [*self._running.values(), *self._ending]:
            if not thread.is_over:
                log.warning("%s: no word from the driver for %g s: the task ends here", thread.id, LEASE_S)
            thread.abandon()
            thread.progress.state = RunState.ENDED


_crew = Crew()


def run_shift(order: ShiftOrder) -> ShiftReport:
    """Runs in a Spark worker."""
    log_to_stderr()
    return _crew.run(order)
