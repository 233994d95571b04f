"""Punctuation on Spark: by stream time as in the test driver, by wall clock also when nothing comes. Windows that
close without input."""

import time
from pathlib import Path
from typing import Any

from e2e.spark.kit import Sent, committed, create_topics, running, send, wait_caught_up, wait_for
from moldau.pipeline.streams import LONG, STRING, PunctuationType, Record, StreamsBuilder, Topology, tumbling
from moldau.testing import TopologyTestDriver

EVERY_MS = 2_000
STEP_MS = 700


class Tally:
    """Counts records. A timer that is created in `init` emits the count."""

    def __init__(self, kind: PunctuationType, every_ms: int) -> None:
        self._kind = kind
        self._every_ms = every_ms

    def init(self, context: Any) -> None:
        self._context = context
        self._counts = context.store("tally")
        context.schedule(self._every_ms, self._kind, self._tell)

    def process(self, record: Record) -> None:
        self._counts.put("all", str(int(self._counts.get("all") or 0) + 1))

    def _tell(self, now_ms: int) -> None:
        self._context.forward(Record("all", f"{self._counts.get('all')} at {now_ms}", now_ms))


def tally(name: str, kind: PunctuationType, every_ms: int) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    builder.add_store("tally")
    builder.stream(f"{name}-in").process(lambda: Tally(kind, every_ms), stores=["tally"]).to(f"{name}-out")
    return builder.build()


def test_stream_time_punctuation_fires_as_in_the_test_driver_also_after_a_restart(
    servers: str, tmp_path: Path
) -> None:
    create_topics(servers, ticks_in=1, ticks_out=1)
    topology = tally("ticks", PunctuationType.STREAM_TIME, EVERY_MS)
    records = [Sent("k", str(n), 0, 1_000_000 + n * STEP_MS) for n in range(40)]
    for some in (records[:17], records[17:]):
        send(servers, "ticks-in", some)
        with running(topology, servers, tmp_path, records_per_batch_max=7) as app:
            wait_caught_up(app, restarts_max=0)
    with TopologyTestDriver(topology) as driver:
        for one in records:
            driver.pipe("ticks-in", one.key, one.value, one.timestamp_ms)
        expected = [(one.value, one.timestamp_ms) for one in driver.read_records("ticks-out")]
    assert len(expected) > 10
    assert [
        ((one.value or b"").decode(), one.timestamp_ms) for one in committed(servers, "ticks-out")
    ] == expected


def test_wall_clock_punctuation_fires_without_input(servers: str, tmp_path: Path) -> None:
    """Before the first record has come, and when no more come."""
    create_topics(servers, idle_in=2, idle_out=1)
    with running(tally("idle", PunctuationType.WALL_CLOCK_TIME, 1_000), servers, tmp_path) as app:

        def told() -> list[bytes]:
            assert app.metrics.restarts == 0, app.metrics.last_error
            return [(one.value or b"").split()[0] for one in committed(servers, "idle-out")]

        wait_for(lambda: told().count(b"None") >= 4, "it fires before there is a record")
        send(servers, "idle-in", [Sent("k", "v", 0), Sent("k", "v", 1)])
        wait_for(lambda: told().count(b"1") >= 6, "it fires when no more come, on both partitions")


def test_windows_close_when_nothing_comes_any_more(servers: str, tmp_path: Path) -> None:
    """If the user wants it: `close_idle_ms`."""
    create_topics(servers, quiet_in=2, quiet_out=1)
    now_ms = int(time.time() * 1000)
    send(servers, "quiet-in", [Sent(f"k{n % 2}", "v", n % 2, now_ms) for n in range(10)])
    builder = StreamsBuilder("quiet", key=STRING, value=STRING)
    by_key = builder.stream("quiet-in").group_by(lambda key, _: key, key=STRING)
    counts = by_key.windowed_by(tumbling(1_000)).count().suppress()
    counts.to_stream(lambda window, _: window.key, key=STRING).to("quiet-out", value=LONG)
    with running(builder.build(), servers, tmp_path, close_idle_ms=500) as app:
        wait_for(lambda: len(committed(servers, "quiet-out")) >= 2, f"its windows are told: {app.metrics}")
    assert {one.key: int.from_bytes(one.value or b"") for one in committed(servers, "quiet-out")} == {
        b"k0": 5,
        b"k1": 5,
    }
