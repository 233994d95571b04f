"""Runs the batches of one run of an application, wherever Spark calls for them: in the driver, or beside a Spark
Connect server. It travels there as plain data, so it knows no session: who has one brings the way to the workers.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from moldau.pipeline.spark.batch_plan import BatchPlan
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.offset_log import OffsetLog, OffsetRange
from moldau.pipeline.spark.orders import SlotOrder, SlotReport

PURGE_EVERY_S: Final = 30.0

Dispatch = Callable[[Sequence[SlotOrder]], list[SlotReport]]


class BatchDone(NamedTuple):
    batch_id: int
    ranges: Sequence[OffsetRange]
    reports: Sequence[SlotReport]
    took_s: float


class BatchRunner:
    def __init__(
        self,
        offset_log: OffsetLog,
        plan: BatchPlan,
        internal_topics: frozenset[str],
        servers: str,
        client_settings: Mapping[str, str],
    ) -> None:
        self._offset_log = offset_log
        self._plan = plan
        self._internal_topics = internal_topics
        self._servers, self._client_settings = servers, dict(client_settings)
        self._holders: dict[int, str] = {}
        self._purged_at: float | None = None

    def run(self, batch_id: int, dispatch: Dispatch) -> BatchDone:
        began = time.perf_counter()
        ranges = self._offset_log.ranges(batch_id)
        orders = [
            replace(order, holder=self._holders.get(order.slot, ""))
            for order in self._plan.orders(batch_id, ranges)
        ]
        reports = dispatch(orders)
        self._holders.update((report.slot, report.holder) for report in reports)
        done = BatchDone(batch_id, ranges, reports, time.perf_counter() - began)
        self._purge_now_and_then(ranges)
        return done

    def _purge_now_and_then(self, ranges: Sequence[OffsetRange]) -> None:
        """What the batches before this one have read of the topics in between is of no more use to anyone."""
        now = time.monotonic()
        if self._purged_at is None:
            self._purged_at = now
        if not self._internal_topics or now - self._purged_at < PURGE_EVERY_S:
            return
        self._purged_at = now
        read = [
            TopicPartition(one.topic, one.partition, one.start_offset)
            for one in ranges
            if one.topic in self._internal_topics and one.start_offset > 0
        ]
        if read:
            admin = AdminClient(shared(self._servers, self._client_settings))
            for future in admin.delete_records(read).values():
                # It will be tried again; space is all that is at stake.
                future.exception(PURGE_EVERY_S)
