"""Pipelines on Spark: all that has a bar, measured one after the other, with which bar is met. About ten minutes.

python bench/pipeline.py                    everything, the race beside Kafka Streams included
python bench/pipeline.py --race [--records N] [--cases stateless,windowed-count] [--only moldau] [--no-cache]
python bench/pipeline.py --latency          record by record, in micro-batches and in Real-Time Mode
python bench/pipeline.py --many 100         light applications in one process
python bench/pipeline.py --views            key lookups in a view over HTTP
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.real_time.connectors import connector_jars
from moldau.pipeline.spark.session import SparkSettings, start_session
from pipeline_race import RUNNERS, race
from pipeline_service import latency, many, views

RATE_BARS = {"stateless": 200_000, "windowed-count": 150_000, "stream-table": 50_000, "table-table": 30_000}
RATIO_BARS = {"windowed-count": 1.0}
LATENCY_BARS_MS = {"micro_batch": 300, "real_time": 50}
VIEW_BAR_MS = 5
MANY = 100
MANY_P95_BAR_MS = 2_000
MANY_BAR_MB = 3_000


class Line(NamedTuple):
    """`met` None: there is no bar."""

    what: str
    figure: str
    bar: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return f"{self.what:34} {self.figure:44} {self.bar:22} {verdict}".rstrip()


def raced(results: dict[str, dict[str, float]]) -> Iterator[Line]:
    for case, rates in results.items():
        ours, theirs = rates.get("moldau"), rates.get("kafka-streams")
        if ours is not None:
            bar = RATE_BARS[case]
            yield Line(case, f"{ours:,.0f} records/s", f">= {bar:,}", ours >= bar)
        if theirs is not None:
            yield Line(f"{case}, Kafka Streams", f"{theirs:,.0f} records/s")
        if ours is not None and theirs is not None:
            ratio, ratio_bar = ours / theirs, RATIO_BARS.get(case)
            met = None if ratio_bar is None else ratio >= ratio_bar
            yield Line(f"{case}, ratio", f"{ratio:.2f}", f">= {ratio_bar}" if ratio_bar else "", met)


def timed(has_connector: bool) -> Iterator[Line]:
    for mode, bar in LATENCY_BARS_MS.items():
        if mode == "real_time" and not has_connector:
            yield Line(f"latency, {mode}", "not measured: no connector", f"p50 < {bar} ms", False)
            continue
        p50, p99 = latency(mode)
        yield Line(f"latency, {mode}", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", f"p50 < {bar} ms", p50 < bar)


def crowded(count: int) -> Iterator[Line]:
    crowd = many(count)
    figure = f"p50 {crowd.p50_ms:.0f} ms, p95 {crowd.p95_ms:.0f} ms, {crowd.silent} silent"
    is_met = crowd.p95_ms < MANY_P95_BAR_MS and not crowd.silent
    yield Line(
        f"{count} applications, input to output", figure, f"p95 < {MANY_P95_BAR_MS:,} ms, none", is_met
    )
    memory = f"{crowd.pss_mb:,.0f} MB"
    yield Line(f"{count} applications, memory", memory, f"< {MANY_BAR_MB:,} MB", crowd.pss_mb < MANY_BAR_MB)


def looked_up() -> Iterator[Line]:
    p50, p99 = views()
    yield Line(
        "view lookup over HTTP",
        f"p50 {p50:.2f} ms, p99 {p99:.2f} ms",
        f"p99 < {VIEW_BAR_MS} ms",
        p99 < VIEW_BAR_MS,
    )


def start_spark() -> bool:
    """One session for all that follows; False when Real-Time Mode's connector is not to be had."""
    try:
        connector_jars()
    except ConfigError as missing:
        print(missing, file=sys.stderr)
        start_session()
        return False
    start_session(SparkSettings(with_connectors=True))
    return True


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--race", action="store_true")
    options.add_argument("--records", type=int, default=1_500_000)
    options.add_argument("--cases", default=",".join(RATE_BARS))
    options.add_argument("--only", choices=sorted(RUNNERS))
    options.add_argument("--no-cache", action="store_true", help="every change is told, on both sides")
    options.add_argument("--latency", action="store_true")
    options.add_argument("--many", type=int, default=0)
    options.add_argument("--views", action="store_true")
    options.add_argument("--json", type=Path, help="write the lines there")
    given = options.parse_args()
    all_of_it = not (given.race or given.only or given.latency or given.many or given.views)
    lines: list[Line] = []

    def tell(found: Iterator[Line]) -> None:
        for line in found:
            lines.append(line)
            print(line, flush=True)

    has_connector = start_spark() if given.only != "kafka-streams" else False
    if all_of_it or given.race or given.only:
        sides = [given.only] if given.only else list(RUNNERS)
        tell(raced(race(given.cases.split(","), sides, given.records, cache=not given.no_cache)))
    if all_of_it or given.latency:
        tell(timed(has_connector))
    if all_of_it or given.many:
        tell(crowded(given.many or MANY))
    if all_of_it or given.views:
        tell(looked_up())
    missed = [line.what for line in lines if line.met is False]
    print(f"bars missed: {', '.join(missed)}" if missed else "all bars met")
    if given.json:
        given.json.write_text(json.dumps([line._asdict() for line in lines], indent=1))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
