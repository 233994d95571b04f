"""The metrics of an application's batches. Written by its query, read by any thread."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from moldau.pipeline.lifecycle import PipelineMetrics
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.positions import Positions, distance

RATES_OF_S: Final = 10.0
BATCHES_FOR_RATES_MAX: Final = 1_000
SPAN_S_MIN: Final = 0.001


class _Batch(NamedTuple):
    began_s: float
    ended_s: float
    records_in: int
    records_out: int


class BatchMetrics:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._metrics = PipelineMetrics(counting_since_ms=int(time.time() * 1000))
        self._recent: deque[_Batch] = deque(maxlen=BATCHES_FOR_RATES_MAX)
        self._done: Positions = {}
        self._reach: Positions | None = None
        """None before the first look at the topics."""
        self._newest_ms = -1

    def reached(self, done: Positions, reach: Positions) -> None:
        """How far the application has come, and how far its topics reach."""
        with self._lock:
            self._done, self._reach = done, reach

    def batch_done(
        self,
        batch_id: int,
        done: Positions,
        reach: Positions,
        reports: Sequence[SlotReport],
        took_s: float,
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
            for report in reports:
                metrics.transform_ms |= {name: round(ms) for name, ms in report.transform_ms.items()}
            self._add_dropped(reports)
            now_s = self._clock()
            self._recent.append(_Batch(now_s - took_s, now_s, records_in, records_out))
            self._done, self._reach = done, reach
            self._newest_ms = max([self._newest_ms, *(report.newest_ms for report in reports)])

    def snapshot(self) -> PipelineMetrics:
        with self._lock:
            in_per_s, out_per_s = self._rates()
            lag = None if self._reach is None else distance(self._done, self._reach)
            behind_ms = int(time.time() * 1000) - self._newest_ms if lag and self._newest_ms >= 0 else 0
            return replace(
                self._metrics,
                records_in_per_s=in_per_s,
                records_out_per_s=out_per_s,
                lag_records=lag,
                lag_ms=None if lag is None else max(0, behind_ms),
                transform_ms=dict(self._metrics.transform_ms),
                dropped={name: dict(counts) for name, counts in self._metrics.dropped.items()},
            )

    def _rates(self) -> tuple[float, float]:
        """Of the last seconds of wall-clock time, so that the rates of an idle application fall to 0."""
        now_s = self._clock()
        while self._recent and self._recent[0].ended_s <= now_s - RATES_OF_S:
            self._recent.popleft()
        if not self._recent:
            return 0.0, 0.0
        span_s = max(SPAN_S_MIN, now_s - self._recent[0].began_s)
        records_in = sum(batch.records_in for batch in self._recent)
        records_out = sum(batch.records_out for batch in self._recent)
        return round(records_in / span_s, 1), round(records_out / span_s, 1)

    def _add_dropped(self, reports: Sequence[SlotReport]) -> None:
        dropped = self._metrics.dropped
        for report in reports:
            for (operator, reason), (count, late_ms) in report.dropped.items():
                entry = dropped.setdefault(f"{operator} {reason}", {"records": 0, "late_ms_max": 0})
                entry["records"] += count
                entry["late_ms_max"] = max(entry["late_ms_max"], late_ms)
                self._metrics.records_dropped += count
