"""Performance metrics from librdkafka's statistics, for `perf --print-metrics`."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from moldau.cli.render.output import columns

INTERVAL_MS = 500
WAIT_S_MAX = 5.0
_CLIENT = (
    "msg_cnt",
    "msg_size",
    "tx",
    "tx_bytes",
    "rx",
    "rx_bytes",
    "txmsgs",
    "txmsg_bytes",
    "rxmsgs",
    "rxmsg_bytes",
)
_BROKER = ("tx", "txbytes", "txerrs", "txretries", "req_timeouts", "rx", "rxbytes", "rxerrs", "wakeups")
_WINDOWS = ("int_latency", "outbuf_latency", "rtt", "throttle", "batchsize", "batchcnt")
_FIGURES = ("avg", "max", "p50", "p99")


class ClientMetrics:
    """Collects the statistics of a client that is created with `settings`."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self.heard = 0

    @property
    def settings(self) -> Mapping[str, object]:
        return {"statistics.interval.ms": INTERVAL_MS, "stats_cb": self._keep}

    def finish(self, poll: Callable[[float], object]) -> None:
        """Waits for statistics that include the last record."""
        heard = self.heard
        deadline = time.monotonic() + WAIT_S_MAX
        while self.heard == heard and time.monotonic() < deadline:
            poll(INTERVAL_MS / 1000)

    def as_json(self) -> dict[str, float]:
        return dict(self._figures())

    def as_text(self) -> str:
        rows = [(name, f"{value:.3f}") for name, value in self._figures()]
        return columns(("METRIC", "VALUE"), rows)

    def _keep(self, text: str) -> None:
        self._last = orjson.loads(text)
        self.heard += 1

    def _figures(self) -> Iterator[tuple[str, float]]:
        last = self._last
        kind = last.get("type", "client")
        yield from ((f"{kind}.{name}", float(last[name])) for name in _CLIENT if name in last)
        for broker in last.get("brokers", {}).values():
            # Negative ids are bootstrap addresses and logical coordinators. tx 0: no request was sent.
            if broker.get("nodeid", -1) >= 0 and broker.get("tx", 0):
                yield from _of(f"broker-{broker['nodeid']}", broker)
        for name, topic in sorted(last.get("topics", {}).items()):
            yield from _of(f"topic-{name}", topic)


def _of(where: str, found: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    yield from ((f"{where}.{name}", float(found[name])) for name in _BROKER if name in found)
    for window in _WINDOWS:
        for figure in _FIGURES:
            if window in found:
                yield f"{where}.{window}.{figure}", float(found[window][figure])
