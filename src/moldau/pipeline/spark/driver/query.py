"""One run of an application in micro-batches: plans a batch, sends it to the lanes, waits, plans the next.

The ledger in the checkpoint has the plans, the markers in the group's offsets say what is committed. A run starts with
the last planned batch: tasks that have committed it skip it. Runs in the driver.
"""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from confluent_kafka.admin import AdminClient
from pyspark.cloudpickle import dumps as dumps_by_value

from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.background import in_background
from moldau.pipeline.spark.checkpoint.application_record import check_topics
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.driver.batch_metrics import BatchMetrics
from moldau.pipeline.spark.driver.batch_plan import BatchPlan, lane_of
from moldau.pipeline.spark.driver.clocks import IdleClock, TaskTimers, parts_with_timers
from moldau.pipeline.spark.driver.failures import BatchFailed, GaveUp, StoppedInBatch
from moldau.pipeline.spark.driver.lanes import Lanes, shared_lanes
from moldau.pipeline.spark.driver.preparation import Prepared, prepare
from moldau.pipeline.spark.driver.purge import Purge
from moldau.pipeline.spark.driver.topic_watch import topic_watch
from moldau.pipeline.spark.driver.topics import require_inputs
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import Limits, Plan, Planner
from moldau.pipeline.spark.planning.shape import Shape
from moldau.pipeline.spark.planning.time_index import TimeIndex
from moldau.pipeline.spark.positions import Positions, positions_from_json
from moldau.pipeline.spark.session import SparkSettings, start_session
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.topic_offsets import topic_facts
from moldau.pipeline.spark.transforms.job import TransformFailed, TransformJob
from moldau.pipeline.spark.transforms.runner import TransformRunner
from moldau.pipeline.streams.travel import check_travels

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

FINISH_S_MAX: Final = 20.0
"""How long a stop waits for the running batch. A batch that takes longer is repeated by the next run."""
LOOK_S: Final = 1.0
"""How often an idle application checks for changes other than new records."""
TOPICS_EVERY_S: Final = 5.0
CLOSE_S_MAX: Final = 10.0

GoesOn = Callable[[], bool]


class Query:
    def __init__(
        self, spark: SparkSettings, topology: Topology, settings: AppSettings, measured: BatchMetrics
    ) -> None:
        """Prepares the run. Raises what prevents the application from running."""
        self._settings, self._measured = settings, measured
        servers, clients = settings.bootstrap_servers, settings.client_settings
        self._admin = AdminClient(shared(servers, clients))
        opening = in_background(partial(self._open, spark), "opening-spark")
        # These checks do not need Spark: they report before it has started.
        for warning in check_travels(topology, dumps_by_value):
            log.warning("%s: %s", settings.application_id, warning)
        topology = self._topology = require_inputs(self._admin, topology, servers)
        self._session, self._lanes = opening.result()
        try:
            check_transforms(self._session, topology, settings.record_ms_max)
            self._prepared: Prepared = prepare(topology, settings, self._lanes.count)
            topology = self._topology = self._prepared.topology
            self._transforms = [
                TransformRunner(self._session, topology, part, self._prepared.application)
                for part in topology.transform_parts
            ]
        except BaseException:
            self._leave()
            raise
        self._index = TimeIndex(self._admin, servers, clients)
        limits = Limits(
            settings.records_per_batch_max, settings.bytes_per_batch_max, settings.max_task_idle_ms
        )
        self._planner = Planner(Shape.of(topology), limits, self._index)
        self._batches = BatchPlan(topology, self._prepared.application, self._prepared.slots)
        self._ledger = Ledger(Folder(settings.folder).within("plans"))
        self._watch = topic_watch(servers, clients)
        self._counts = dict(self._prepared.partitions)
        self._holders: dict[int, str] = {}
        self._timers = TaskTimers()
        self._idle_clock = IdleClock(settings.close_idle_ms)
        self._purge = Purge(self._admin, topology.internal_topics)
        self._looked_at_topics = time.monotonic()

    def follow(self, goes_on: GoesOn, is_well: Callable[[], None]) -> None:
        """Runs batches while `goes_on()` is true. Raises the failure of a batch. Calls `is_well` after each batch, and
        when there is nothing to do."""
        last = self._again(goes_on)
        wake: tuple[str, ...] = self._batches.tasks_of(parts_with_timers(self._topology), self._whole(last))
        self._watch.follow(self, self._counts, max(self._settings.trigger_ms, 1) / 1000)
        ends = self._watch.ends(self._counts)
        try:
            while goes_on():
                began = time.monotonic()
                self._look_at_topics()
                plan = self._next_plan(last, ends, wake)
                if plan is None:
                    self._measured.reached(last.ends, ends)
                    is_well()
                    ends = self._watch.wait(self, ends, self._timers.rest_s(LOOK_S))
                    continue
                self._ledger.write(plan)
                self._run(plan, goes_on, ends)
                is_well()
                last, wake = plan, ()
                ends = self._watch.ends(self._counts)
                self._pace(last, ends, began, goes_on)
        finally:
            self._watch.leave(self)

    def close(self, *, is_well: bool) -> None:
        """Ends the run: the workers release its clients and state. After a failure they have done so already."""
        self._index.close()
        for transform in self._transforms:
            transform.close()
        try:
            if is_well:
                orders = self._batches.last_orders()
                wait([self._lanes.submit(self._lane(order.slot), order) for order in orders], CLOSE_S_MAX)
        finally:
            self._leave()

    @staticmethod
    def _open(spark: SparkSettings) -> "tuple[SparkSession, Lanes]":
        session = start_session(spark)
        return session, shared_lanes(session.sparkContext)

    def _leave(self) -> None:
        """The session stays open for other applications of the process."""

    def _again(self, goes_on: GoesOn) -> Plan:
        last, ends = self._ledger.last(), self._watch.ends(self._counts)
        if last is None:
            initial = positions_from_json(self._prepared.record.initial_json)
            self._measured.reached(initial, ends)
            return Plan(-1, initial, initial, 0)
        self._measured.reached(last.starts, ends)
        self._run(last, goes_on, ends)
        return last

    def _whole(self, last: Plan) -> Plan:
        """The plan with every partition, to find the tasks of all partitions."""
        known = {
            topic: {number: last.ends.get(topic, {}).get(number, 0) for number in range(count)}
            for topic, count in self._counts.items()
        }
        return replace(last, starts=known, ends=known)

    def _next_plan(self, last: Plan, ends: Positions, wake: tuple[str, ...]) -> Plan | None:
        now_ms = int(time.time() * 1000)
        woken = tuple(sorted({*wake, *self._timers.due(now_ms)}))
        plan = self._planner.next_plan(last, ends, now_ms, woken=woken)
        if plan is not None:
            if plan.has_input:
                self._idle_clock.saw_input()
            return plan
        advance_ms = self._idle_clock.advance_ms(now_ms)
        if advance_ms is None:
            return None
        return self._planner.next_plan(last, ends, now_ms, advance_ms=advance_ms)

    def _run(self, plan: Plan, goes_on: GoesOn, ends: Positions) -> None:
        began = time.perf_counter()
        rests = self._planner.unread(plan, ends) == 0
        orders = [
            replace(order, holder=self._holders.get(order.slot, ""))
            for order in self._batches.orders(plan, rests=rests)
        ]
        beside = [transform.submit(plan) for transform in self._transforms]
        in_lanes = [self._lanes.submit(self._lane(order.slot), order) for order in orders]
        reports = self._reports([*in_lanes, *(one for one in beside if one is not None)], goes_on)
        for report in reports:
            self._holders[report.slot] = report.holder
            self._planner.learn_sizes(report.sizes)
            self._timers.learn(report)
        self._measured.batch_done(plan.batch_id, plan.ends, ends, reports, time.perf_counter() - began)
        self._purge.after(plan)

    def _reports(self, futures: "Sequence[Future[SlotReport]]", goes_on: GoesOn) -> list[SlotReport]:
        deadline: float | None = None
        waiting = set(futures)
        while waiting:
            waiting = wait(waiting, LOOK_S).not_done
            if waiting and not goes_on():
                deadline = deadline or time.monotonic() + FINISH_S_MAX
                if time.monotonic() > deadline:
                    raise StoppedInBatch(f"{self._settings.application_id} was stopped during a batch")
        reports = [future.result() for future in futures]
        for report in reports:
            if report.error is not None:
                raise (GaveUp if report.is_final else BatchFailed)(report.error)
        return reports

    def _pace(self, last: Plan, ends: Positions, began: float, goes_on: GoesOn) -> None:
        """Waits, so that small batches run no more often than `trigger_ms`. Records in internal topics do not wait."""
        spare_s = self._settings.trigger_ms / 1000 - (time.monotonic() - began)
        internal = {topic: ends[topic] for topic in self._topology.internal_topics if topic in ends}
        waits = last.has_more or self._planner.unread(last, internal) > 0
        if spare_s > 0 and not waits and goes_on():
            time.sleep(spare_s)

    def _lane(self, slot: int) -> int:
        return lane_of(self._settings.application_id, slot, self._lanes.count)

    def _look_at_topics(self) -> None:
        """Finds new partitions, and topics that were deleted or created again."""
        now = time.monotonic()
        if now - self._looked_at_topics < TOPICS_EVERY_S:
            return
        self._looked_at_topics = now
        topic_ids = self._prepared.record.topic_ids
        facts = topic_facts(self._admin, topic_ids)
        check_topics(self._settings.application_id, topic_ids, facts)
        counts = {topic: facts[topic].partitions for topic in self._counts}
        if counts != self._counts:
            self._counts = counts
            self._watch.follow(self, counts, max(self._settings.trigger_ms, 1) / 1000)


def check_transforms(session: "SparkSession", topology: Topology, limit_ms: int) -> None:
    """Before anything runs. Raises ConfigError for a function whose result cannot be written as records."""
    for part in topology.transform_parts:
        try:
            TransformJob(session, part).check(limit_ms)
        except TransformFailed as failure:
            raise BatchFailed(str(failure)) from failure
