"""Figures of a measurement, and their output in the format of Kafka's perf tools. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

MEBIBYTE = 1024 * 1024
SAMPLES_MAX = 500_000
PERCENTILES = (50, 95, 99, 99.9)


class Latencies:
    """Latencies in milliseconds. Average and maximum are exact; percentiles are of a sample if there are very many."""

    def __init__(self) -> None:
        self.count = 0
        self.sum_ms = 0.0
        self.max_ms = 0.0
        self._sample: list[float] = []
        self._random = random.Random(0)

    def add(self, latency_ms: float) -> None:
        self.count += 1
        self.sum_ms += latency_ms
        if latency_ms > self.max_ms:
            self.max_ms = latency_ms
        if self.count <= SAMPLES_MAX:
            self._sample.append(latency_ms)
        elif (place := self._random.randrange(self.count)) < SAMPLES_MAX:
            # Reservoir sampling (algorithm R).
            self._sample[place] = latency_ms

    @property
    def average_ms(self) -> float:
        return self.sum_ms / self.count if self.count else 0.0

    def percentiles_ms(self, wanted: Sequence[float] = PERCENTILES) -> list[float]:
        ordered = sorted(self._sample)
        if not ordered:
            return [0.0] * len(wanted)
        return [ordered[min(len(ordered) - 1, int(percent * len(ordered) / 100))] for percent in wanted]

    def as_json(self) -> dict[str, float]:
        names = [f"latency_ms_{percent:g}th".replace(".", "_") for percent in PERCENTILES]
        figures = [round(figure, 3) for figure in self.percentiles_ms()]
        return {
            "latency_ms_avg": round(self.average_ms, 3),
            "latency_ms_max": round(self.max_ms, 3),
            **dict(zip(names, figures, strict=True)),
        }


@dataclass
class Window:
    """The records sent since the last line."""

    started_s: float
    count: int = 0
    bytes: int = 0
    sum_ms: float = 0.0
    max_ms: float = 0.0

    def add(self, size_bytes: int, latency_ms: float) -> None:
        self.count += 1
        self.bytes += size_bytes
        self.sum_ms += latency_ms
        self.max_ms = max(self.max_ms, latency_ms)

    def line(self, now_s: float) -> str:
        span_s = max(now_s - self.started_s, 1e-9)
        return (
            f"{self.count} records sent, {self.count / span_s:.1f} records/sec "
            f"({self.bytes / MEBIBYTE / span_s:.2f} MB/sec), {self.sum_ms / max(self.count, 1):.1f} ms avg latency, "
            f"{self.max_ms:.1f} ms max latency."
        )


@dataclass(frozen=True)
class Produced:
    count: int
    bytes: int
    span_s: float
    latencies: Latencies

    def line(self) -> str:
        percentiles = zip(self.latencies.percentiles_ms(), PERCENTILES, strict=True)
        return (
            f"{self.count} records sent, {self.count / self.span_s:.6f} records/sec "
            f"({self.bytes / MEBIBYTE / self.span_s:.2f} MB/sec), {self.latencies.average_ms:.2f} ms avg latency, "
            f"{self.latencies.max_ms:.2f} ms max latency, "
            + ", ".join(f"{figure:.0f} ms {percent:g}th" for figure, percent in percentiles)
            + "."
        )

    def as_json(self) -> dict[str, float]:
        return {
            "records": self.count,
            "bytes": self.bytes,
            "seconds": round(self.span_s, 3),
            "records_per_second": round(self.count / self.span_s, 1),
            "mb_per_second": round(self.bytes / MEBIBYTE / self.span_s, 3),
            **self.latencies.as_json(),
        }


CONSUMED_HEADING = (
    "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, "
    "fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)


@dataclass(frozen=True)
class Consumed:
    """Times in seconds since the epoch. `joining_s` is the time until partitions were assigned."""

    started_s: float
    ended_s: float
    joining_s: float
    count: int
    bytes: int

    @property
    def fetching_s(self) -> float:
        return max(self.ended_s - self.started_s - self.joining_s, 1e-9)

    def line(self) -> str:
        megabytes = self.bytes / MEBIBYTE
        span_s = max(self.ended_s - self.started_s, 1e-9)
        cells = [
            _moment(self.started_s),
            _moment(self.ended_s),
            f"{megabytes:.4f}",
            f"{megabytes / span_s:.4f}",
            str(self.count),
            f"{self.count / span_s:.4f}",
            f"{self.joining_s * 1000:.0f}",
            f"{self.fetching_s * 1000:.0f}",
            f"{megabytes / self.fetching_s:.4f}",
            f"{self.count / self.fetching_s:.4f}",
        ]
        return ", ".join(cells)

    def as_json(self) -> dict[str, float]:
        span_s = max(self.ended_s - self.started_s, 1e-9)
        return {
            "records": self.count,
            "bytes": self.bytes,
            "seconds": round(span_s, 3),
            "records_per_second": round(self.count / span_s, 1),
            "mb_per_second": round(self.bytes / MEBIBYTE / span_s, 3),
            "rebalance_ms": round(self.joining_s * 1000, 1),
            "fetch_ms": round(self.fetching_s * 1000, 1),
            "fetch_records_per_second": round(self.count / self.fetching_s, 1),
            "fetch_mb_per_second": round(self.bytes / MEBIBYTE / self.fetching_s, 3),
        }


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds)
    return f"{moment:%Y-%m-%d %H:%M:%S}:{moment.microsecond // 1000:03d}"


def latency_lines(latencies: Latencies) -> str:
    median, high, highest = latencies.percentiles_ms((50, 99, 99.9))
    return (
        f"Avg latency: {latencies.average_ms:.4f} ms\n"
        f"Percentiles: 50th = {median:.3f}, 99th = {high:.3f}, 99.9th = {highest:.3f}"
    )
