"""The lanes on which a driver sends orders to Spark's workers, shared by all its applications.

A lane is a thread in the driver and a Python worker in Spark. All orders that wait for a lane are sent as one Spark
task, whichever applications they belong to: so a hundred small applications do not need a hundred processes.

Spark keeps a pool of Python workers for each set of environment variables. Each lane sets a variable of its own, so
that a slot returns to the process that has its clients and its state. This makes it faster; correctness does not
depend on it. Spark Connect has no such variables.

A Spark job has its price, whatever it carries. So after a bundle of light orders of several
applications a lane rests a little, and what comes meanwhile travels together.
"""

import contextlib
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa

from moldau import __version__
from moldau.core.errors import MoldauError
from moldau.pipeline.spark.orders import SlotOrder, SlotReport
from moldau.pipeline.spark.worker.garbage import task_ends
from moldau.pipeline.spark.worker.slots import run_slot

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

Order = TypeVar("Order")
Report = TypeVar("Report")

POOL_VARIABLE: Final = "MOLDAU_LANE"
BUNDLE_MAX: Final = 64
"""Orders in one Spark task. A limit, so that an order does not wait for too many others."""
LIGHT_RECORDS_MAX: Final = 200
REST_S_PER_APPLICATION: Final = 0.04
REST_S_MAX: Final = 0.1

Send = Callable[[int, Sequence[SlotOrder]], list[SlotReport]]
"""(lane, orders) -> a report for each order, in the same order."""


class Lanes:
    def __init__(self, count: int, send: Send) -> None:
        self.count = count
        self._send = send
        self._waiting: list[list[tuple[SlotOrder, Future[SlotReport]]]] = [[] for _ in range(count)]
        self._not_before = [0.0] * count
        """When each lane may send again, in monotonic time."""
        self._changed = threading.Condition()
        self._is_closed = False
        for lane in range(count):
            threading.Thread(target=self._serve, args=(lane,), name=f"lane-{lane}", daemon=True).start()

    def submit(self, lane: int, order: SlotOrder) -> "Future[SlotReport]":
        future: Future[SlotReport] = Future()
        with self._changed:
            if self._is_closed:
                raise MoldauError("Spark's session has ended")
            self._waiting[lane % self.count].append((order, future))
            self._changed.notify_all()
        return future

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _serve(self, lane: int) -> None:
        with contextlib.suppress(Exception):
            # The worker starts and imports while the application is still being prepared. If this fails, the first
            # batch reports why.
            self._send(lane, [])
        while (bundle := self._next(lane)) is not None:
            wanted = [(order, future) for order, future in bundle if future.set_running_or_notify_cancel()]
            if not wanted:
                continue
            try:
                reports = self._send(lane, [order for order, _ in wanted])
            except BaseException as failure:  # noqa: BLE001 each application decides what a failure means to it
                for _, future in wanted:
                    future.set_exception(failure)
                continue
            self._not_before[lane] = time.monotonic() + rest_s([order for order, _ in wanted])
            for (_, future), report in zip(wanted, reports, strict=True):
                future.set_result(report)

    def _next(self, lane: int) -> "list[tuple[SlotOrder, Future[SlotReport]]] | None":
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or bool(self._waiting[lane]))
            while not self._is_closed and (left_s := self._not_before[lane] - time.monotonic()) > 0:
                self._changed.wait(left_s)
            if self._is_closed:
                for _, future in self._waiting[lane]:
                    future.cancel()
                return None
            bundle = self._waiting[lane][:BUNDLE_MAX]
            del self._waiting[lane][:BUNDLE_MAX]
            return bundle


def rest_s(bundle: Sequence[SlotOrder]) -> float:
    """How long a lane rests after these orders: not at all after a single application's, or after many records."""
    applications = {order.application.application_id for order in bundle}
    records = sum(end - start for order in bundle for task in order.tasks for _, _, start, end in task.ranges)
    if len(applications) < 2 or records > LIGHT_RECORDS_MAX * len(bundle):
        return 0.0
    return min(REST_S_MAX, REST_S_PER_APPLICATION * len(applications))


def job_of_context(
    context: "SparkContext", run: Callable[[Order], Report], pool: str = ""
) -> Callable[[int, Sequence[Order]], list[Report]]:
    """(lane, orders) -> what `run` gives for each order in a worker. `run` must be a module's function. Each `pool` has
    workers of its own."""

    def send(lane: int, orders: Sequence[Order]) -> list[Report]:
        mine = _with_environment(context, {POOL_VARIABLE: f"{os.getpid()}-{pool}{lane}"})
        job = mine.parallelize([list(orders)], 1).mapPartitions(partial(_run_each, run))
        try:
            return job.collect()
        except UnboundLocalError as hidden:
            # When pyspark cannot fetch the result, its clean-up fails and hides the reason. The orders are not sent
            # again from here, because they may have been executed.
            raise hidden.__context__ or hidden from None

    return send


def _with_environment(context: "SparkContext", more: dict[str, str]) -> "SparkContext":
    """The same context, whose workers have more variables. The environment of the context itself belongs to all
    threads of the process, the user's too: pyspark reads it, entry by entry, whenever a function is bound."""
    one: SparkContext = object.__new__(type(context))
    one.__dict__.update(context.__dict__, environment={**context.environment, **more})
    return one


def _run_each(run: Callable[[Order], Report], bundles: Iterable[list[Order]]) -> Iterator[Report]:
    for orders in bundles:
        for order in orders:
            yield run(order)
    task_ends()


def job_of_rows(session: "SparkSession") -> Send:
    """For sessions without a SparkContext: the orders travel with the function that Spark applies to a row."""

    def send(lane: int, orders: Sequence[SlotOrder]) -> list[SlotReport]:
        todo = pickle.dumps(list(orders))

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for _ in range(batch.num_rows):
                    reports = [run_slot(order) for order in pickle.loads(todo)]  # noqa: S301 our own
                    yield pa.record_batch({"reports": [pickle.dumps(reports)]})
            task_ends()

        rows = session.range(0, 1, 1, 1).mapInArrow(run, "reports binary").collect()
        reports: list[SlotReport] = pickle.loads(rows[0]["reports"])  # noqa: S301 our own
        return reports

    return send


def version_of_workers(session: "SparkSession") -> str:
    """The version of this package in Spark's Python workers."""
    version: str = session.range(1).mapInArrow(_tell_version, "version string").collect()[0]["version"]
    return version


def _tell_version(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"version": [__version__] * batch.num_rows})


_shared_lock = threading.Lock()
_shared: Lanes | None = None
_shared_context: "SparkContext | None" = None


def shared_lanes(context: "SparkContext") -> Lanes:
    """The lanes of this process: as many as Spark runs tasks at once."""
    global _shared, _shared_context
    with _shared_lock:
        if _shared is None or _shared_context is not context:
            if _shared is not None:
                _shared.close()
            _shared, _shared_context = (
                Lanes(context.defaultParallelism, job_of_context(context, run_slot)),
                context,
            )
        return _shared
