"""Counts what the batches of an application did. Written by the run of batches, read by anyone."""

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from moldau.pipeline.lifecycle import PipelineMetrics
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.positions import Positions, distance

BATCHES_FOR_RATES: Final = 20


class BatchMetrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._metrics = PipelineMetrics()
        self._recent: deque[tuple[int, int, float]] = deque(maxlen=BATCHES_FOR_RATES)
        self._done: Positions = {}
        self._reach: Positions = {}
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
            self._add_dropped(reports)
            self._recent.append((records_in, records_out, took_s))
            self._done, self._reach = done, reach
            self._newest_ms = max([self._newest_ms, *(report.newest_ms for report in reports)])

    def snapshot(self) -> PipelineMetrics:
        with self._lock:
            spent_s = sum(took for _, _, took in self._recent) or 1.0
            lag = distance(self._done, self._reach)
            behind_ms = int(time.time() * 1000) - self._newest_ms if lag and self._newest_ms >= 0 else 0
            return replace(
                self._metrics,
                records_in_per_s=round(sum(one[0] for one in self._recent) / spent_s, 1),
                records_out_per_s=round(sum(one[1] for one in self._recent) / spent_s, 1),
                lag_records=lag,
                lag_ms=max(0, behind_ms),
                dropped={name: dict(counts) for name, counts in self._metrics.dropped.items()},
            )

    def _add_dropped(self, reports: Sequence[SlotReport]) -> None:
        dropped = self._metrics.dropped
        for report in reports:
            for (operator, reason), (count, late_ms) in report.dropped.items():
                entry = dropped.setdefault(f"{operator} {reason}", {"records": 0, "late_ms_max": 0})
                entry["records"] += count
                entry["late_ms_max"] = max(entry["late_ms_max"], late_ms)
                self._metrics.records_dropped += count


def describe_dropped(dropped: Mapping[str, Mapping[str, int]]) -> str:
    """One line for a person: the operators that drop most first."""
    worst = sorted(dropped.items(), key=lambda entry: -entry[1]["records"])
    return ", ".join(
        f"{name}: {entry['records']}"
        + (f" (the latest by {entry['late_ms_max'] / 1000:g} s)" if entry["late_ms_max"] else "")
        for name, entry in worst
    )
