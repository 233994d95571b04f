"""Spreads the tasks of all connectors over lanes, and sends each lane that has tasks a shift after the other.

A lane is a thread in the driver and a Python worker in Spark, as in `driver/lanes.py`, but lanes of connectors have
workers of their own. A lane without tasks sends nothing.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JError, Py4JJavaError

from moldau.pipeline.lifecycle import BackOff
from moldau.pipeline.spark.connectors.task_orders import (
    RunState,
    ShiftOrder,
    ShiftReport,
    TaskId,
    TaskOrder,
    TaskReport,
)
from moldau.pipeline.spark.connectors.worker.shift import LEASE_S, run_shift
from moldau.pipeline.spark.driver.failures import cause_of
from moldau.pipeline.spark.driver.lanes import job_of_context

if TYPE_CHECKING:
    from pyspark import SparkContext

SHIFT_S: Final = 1.0
BRISK_SHIFT_S: Final = 0.2
"""While tasks come and go: who has asked for that often asks for more."""
BRISK_FOR_S: Final = 5.0
ELSEWHERE_S_MAX: Final = LEASE_S + 10.0
"""A process that no shift has reached for this long has ended its tasks itself."""

log = logging.getLogger(__name__)

Send = Callable[[int, ShiftOrder], ShiftReport]
Hear = Callable[[TaskReport, str], None]
"""Takes a report and the process it comes from."""


@dataclass(slots=True)
class _Placed:
    order: TaskOrder
    hear: Hear
    spark_is_gone: Callable[[str], None]
    is_wanted: bool = True
    missed_since: float | None = None

    def lost(self, process: str) -> None:
        self.hear(TaskReport(self.order.id, self.order.run, RunState.LOST), process)


class Shifts:
    def __init__(self, count: int, send: Send) -> None:
        self._send = send
        self._lanes: list[dict[str, _Placed]] = [{} for _ in range(count)]
        """By run."""
        self._brisk_until = [0.0] * count
        self._changed = threading.Condition()
        self._is_closed = False
        for lane in range(count):
            threading.Thread(target=self._serve, args=(lane,), name=f"shifts-{lane}", daemon=True).start()

    def start(self, order: TaskOrder, hear: Hear, spark_is_gone: Callable[[str], None]) -> None:
        """Runs a task until `end`, or until it reports that it is over. `hear` is called by the lane's thread."""
        with self._changed:
            load = [sum(one.is_wanted for one in lane.values()) for lane in self._lanes]
            # A new run of a task stays where the last one ends: one after the other.
            lane = self._lane_of(order.id)
            if lane is None:
                lane = load.index(min(load))
            self._lanes[lane][order.run] = _Placed(order, hear, spark_is_gone)
            self._brisk_until[lane] = time.monotonic() + BRISK_FOR_S
            self._changed.notify_all()

    def end(self, run: str) -> None:
        """The run reports when it has ended."""
        with self._changed:
            for number, lane in enumerate(self._lanes):
                if run in lane:
                    lane[run].is_wanted = False
                    self._brisk_until[number] = time.monotonic() + BRISK_FOR_S
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _lane_of(self, task: TaskId) -> int | None:
        for number, lane in enumerate(self._lanes):
            if any(one.order.id == task for one in lane.values()):
                return number
        return None

    def _serve(self, lane: int) -> None:
        back_off = BackOff()
        while (placed := self._next(lane)) is not None:
            lasts_s = BRISK_SHIFT_S if time.monotonic() < self._brisk_until[lane] else SHIFT_S
            order = ShiftOrder(tuple(one.order for one in placed if one.is_wanted), lasts_s)
            try:
                report = self._send(lane, order)
            except (Py4JJavaError, OSError) as failure:
                if isinstance(failure, ConnectionError):
                    self._gone(failure)
                    return
                self._worker_ended(lane, placed, failure)
                time.sleep(back_off.failed() / 1000)
            except Py4JError as failure:
                self._gone(failure)
                return
            except Exception as failure:
                log.exception("a shift failed")
                self._worker_ended(lane, placed, failure)
                time.sleep(back_off.failed() / 1000)
            else:
                back_off.progressed()
                self._reported(lane, placed, report)

    def _next(self, lane: int) -> list[_Placed] | None:
        """What the lane has, when it has anything."""
        with self._changed:
            while True:
                if self._is_closed:
                    return None
                unstarted = [
                    one for one in self._lanes[lane].values() if not one.is_wanted and not one.order.holder
                ]
                for one in unstarted:
                    del self._lanes[lane][one.order.run]
                found = list(self._lanes[lane].values())
                if unstarted or found:
                    break
                self._changed.wait()
        for one in unstarted:
            one.hear(TaskReport(one.order.id, one.order.run, RunState.ENDED), "")
        return found if found else self._next(lane)

    def _reported(self, lane: int, placed: list[_Placed], report: ShiftReport) -> None:
        told = {one.run: one for one in report.tasks}
        now = time.monotonic()
        for one in placed:
            run = one.order.run
            found = told.get(run)
            if found is not None:
                one.missed_since = None
                one.order = replace(one.order, holder=report.holder)
                if found.state.is_over:
                    self._remove(lane, run)
                one.hear(found, report.holder)
            elif one.order.holder == report.holder:
                # The process has forgotten it.
                self._remove(lane, run)
                one.lost(report.holder)
            elif one.order.holder:
                one.missed_since = one.missed_since or now
                if now - one.missed_since > ELSEWHERE_S_MAX:
                    self._remove(lane, run)
                    one.lost(one.order.holder)

    def _worker_ended(self, lane: int, placed: list[_Placed], failure: BaseException) -> None:
        log.warning("a worker of Spark has ended with its tasks: %s", cause_of(failure))  # type: ignore[arg-type]
        for one in placed:
            self._remove(lane, one.order.run)
            one.lost(one.order.holder)

    def _gone(self, failure: BaseException) -> None:
        """Spark's JVM has ended."""
        self.close()
        with self._changed:
            everything = [one for lane in self._lanes for one in lane.values()]
            for lane in self._lanes:
                lane.clear()
        for one in everything:
            one.spark_is_gone(f"Spark's JVM has ended: {failure}")

    def _remove(self, lane: int, run: str) -> None:
        with self._changed:
            self._lanes[lane].pop(run, None)


_shared_lock = threading.Lock()
_shared: Shifts | None = None
_shared_context: "SparkContext | None" = None


def shared_shifts(context: "SparkContext") -> Shifts:
    """Those of this process: as many lanes as Spark runs tasks at once."""
    global _shared, _shared_context
    with _shared_lock:
        if _shared is None or _shared_context is not context:
            if _shared is not None:
                _shared.close()
            job = job_of_context(context, run_shift, pool="connect")

            def send(lane: int, order: ShiftOrder) -> ShiftReport:
                return job(lane, [order])[0]

            _shared, _shared_context = Shifts(context.defaultParallelism, send), context
        return _shared
