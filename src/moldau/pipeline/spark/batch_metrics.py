"""Counts what the batches of an application did. Written by Spark's callback, read by anyone."""

import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.lifecycle import PipelineMetrics
from moldau.pipeline.spark.offset_log import OffsetRange, Positions, positions_from_json
from moldau.pipeline.spark.orders import SlotReport

BATCHES_FOR_RATES: Final = 20


class BatchMetrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._metrics = PipelineMetrics()
        self._recent: deque[tuple[int, int, float]] = deque(maxlen=BATCHES_FOR_RATES)
        self._ends: Positions = {}

    def batch_done(
        self, batch_id: int, ranges: Sequence[OffsetRange], reports: Sequence[SlotReport], took_s: float
    ) -> None:
        records_in = sum(report.records_in for report in reports)
        records_out = sum(report.records_out for report in reports)
        phases: dict[str, int] = {}
        for report in reports:
            for phase, spent_ms in report.phase_ms.items():
                phases[phase] = max(phases.get(phase, 0), round(spent_ms))
        with self._lock:
            metrics = self._metrics
            metrics.batches += 1
            metrics.batches_skipped += bool(reports) and all(report.tasks_skipped for report in reports)
            metrics.records_in += records_in
            metrics.records_out += records_out
            metrics.records_dead += sum(report.records_dead for report in reports)
            metrics.batch_ms = round(took_s * 1000)
            metrics.batch_id = batch_id
            metrics.worker_ms = phases
            self._recent.append((records_in, records_out, took_s))
            for one in ranges:
                self._ends.setdefault(one.topic, {})[one.partition] = one.end_offset

    def snapshot(self, progress: Mapping[str, Any] | None) -> PipelineMetrics:
        """`progress` is Spark's own, which knows how far the topics reach."""
        with self._lock:
            spent_s = sum(took for _, _, took in self._recent) or 1.0
            return replace(
                self._metrics,
                records_in_per_s=round(sum(one[0] for one in self._recent) / spent_s, 1),
                records_out_per_s=round(sum(one[1] for one in self._recent) / spent_s, 1),
                lag_records=self._lag(progress),
            )

    def _lag(self, progress: Mapping[str, Any] | None) -> int:
        sources = (progress or {}).get("sources") or [{}]
        latest = sources[0].get("latestOffset")
        if not latest or latest == "null":  # Not told yet, in words of Spark's: a query that has just begun.
            return 0
        reach = positions_from_json(latest if isinstance(latest, str) else json.dumps(latest))
        return sum(
            max(0, end - self._ends.get(topic, {}).get(partition, 0))
            for topic, partitions in reach.items()
            for partition, end in partitions.items()
        )
