"""What the proxy counts, in Prometheus' text format at `/metrics`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from moldau.proxies.rest.producing.producer import Written

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class _Histogram:
    __slots__ = ("buckets", "count", "total")

    def __init__(self) -> None:
        self.buckets = [0] * len(BOUNDS_S)
        self.count = 0
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds
        for index, bound in enumerate(BOUNDS_S):
            if seconds <= bound:
                self.buckets[index] += 1
                return


class Metrics:
    """Counted in the event loop only. Gauges are asked when somebody reads."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._durations: defaultdict[str, _Histogram] = defaultdict(_Histogram)
        self._records: Counter[str] = Counter()
        self._gauges: dict[str, tuple[str, Callable[[], int]]] = {}

    def gauge(self, name: str, text: str, ask: Callable[[], int]) -> None:
        self._gauges[name] = (text, ask)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """`route` is the path of the table, so that names of topics do not multiply the series."""
        route = route or "unknown"
        method = method if method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD") else "other"
        self._answers[method, route, status] += 1
        self._durations[route].add(seconds)

    def produced(self, written: Sequence[Written]) -> None:
        failed = sum(each.error is not None for each in written)
        self._records["produced"] += len(written) - failed
        self._records["refused"] += failed

    def consumed(self, count: int) -> None:
        self._records["consumed"] += count

    def text(self) -> str:
        lines = [
            "# HELP moldau_rest_requests_total Answered requests.",
            "# TYPE moldau_rest_requests_total counter",
        ]
        for (method, route, status), count in sorted(self._answers.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"moldau_rest_requests_total{{{labels}}} {count}")
        lines += [
            "# HELP moldau_rest_request_duration_seconds Time until the answer was ready.",
            "# TYPE moldau_rest_request_duration_seconds histogram",
        ]
        for route, histogram in sorted(self._durations.items()):
            total = 0
            for bound, count in zip(BOUNDS_S, histogram.buckets, strict=True):
                total += count
                lines.append(
                    f'moldau_rest_request_duration_seconds_bucket{{route="{route}",le="{bound:g}"}} {total}'
                )
            lines += [
                f'moldau_rest_request_duration_seconds_bucket{{route="{route}",le="+Inf"}} {histogram.count}',
                f'moldau_rest_request_duration_seconds_sum{{route="{route}"}} {histogram.total:.6f}',
                f'moldau_rest_request_duration_seconds_count{{route="{route}"}} {histogram.count}',
            ]
        lines += [
            "# HELP moldau_rest_records_total Records by what happened to them.",
            "# TYPE moldau_rest_records_total counter",
        ]
        for what in ("produced", "refused", "consumed"):
            lines.append(f'moldau_rest_records_total{{outcome="{what}"}} {self._records[what]}')
        for name, (text, ask) in sorted(self._gauges.items()):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", f"{name} {ask()}"]
        return "\n".join(lines) + "\n"
