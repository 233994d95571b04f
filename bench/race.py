"""The race: the same client against Moldau and Apache Kafka on this machine, interleaved, judged by the bars.

python bench/race.py [--cases PATTERN ...] [--repeats N] [--quick] [--output json]

Ends with code 1 when a bar is missed. The values are kept under bench/out/.
"""

import argparse
import datetime
import fnmatch
import json
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from confluent_kafka import KafkaException

from arena import Arena, Scale
from footprint_cases import ManyPartitions, StartAndIdle
from load_client import LoadFailed
from machine import describe_machine
from measures import CONTENDER, PEER, CaseResult, Comparison, Measure, RaceResult
from report import text_table
from systems import OUT, ServerFailed, stop_servers_on_sigterm
from traffic_cases import EndToEnd, SmallRequests, Throughput

QUICK_SHARE = 0.1


class Case(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def measures(self) -> tuple[Measure, ...]: ...

    @property
    def is_warmed_up(self) -> bool:
        """Whether each system runs it once unmeasured first."""

    @property
    def repeats_max(self) -> int: ...

    def run(self, arena: Arena, system: str) -> dict[str, float]: ...


# Those on running servers first: a case that needs a fresh one stops them.
CASES: tuple[Case, ...] = (
    *(
        Throughput(record_bytes, 6, acks, codec, records)
        for record_bytes, records in ((100, 5_000_000), (1024, 1_000_000))
        for acks in ("1", "all")
        for codec in ("none", "lz4")
    ),
    *(
        Throughput(record_bytes, 1, "all", codec, records)
        for record_bytes, records in ((100, 5_000_000), (1024, 1_000_000))
        for codec in ("none", "lz4")
    ),
    Throughput(100, 1, "all", "none", 30_000_000, headline=True),
    SmallRequests(in_flight=1),
    SmallRequests(in_flight=5),
    EndToEnd(rate=1_000),
    EndToEnd(rate=10_000),
    StartAndIdle(),
    ManyPartitions(),
)


def run_case(case: Case, arena: Arena, systems: Sequence[str], repeats: int) -> CaseResult:
    """The order of the systems turns round with each repeat: what drifts favours neither."""
    values: dict[str, list[dict[str, float]]] = {system: [] for system in systems}
    failure = None
    repeats = min(repeats, case.repeats_max)
    try:
        if case.is_warmed_up:
            for system in systems:
                _progress(f"{case.name}: {system}, warming up")
                case.run(arena, system)
        for repeat in range(repeats):
            for system in systems if repeat % 2 == 0 else reversed(systems):
                _progress(f"{case.name}: {system}, {repeat + 1} of {repeats}")
                values[system].append(case.run(arena, system))
    except (LoadFailed, ServerFailed, KafkaException, TimeoutError) as problem:
        failure = f"{system}: {str(problem).strip().splitlines()[0]}"
        print(f"{case.name}: {system}: {problem}", file=sys.stderr)
        arena.stop()
    comparisons = [
        Comparison(measure, {system: [run[measure.name] for run in values[system]] for system in systems})
        for measure in case.measures
    ]
    return CaseResult(case.name, comparisons, failure)


def race(
    cases: Sequence[Case], systems: Sequence[str], repeats: int, scale: Scale, folder: Path
) -> RaceResult:
    arena = Arena(folder, scale)
    results = []
    try:
        for case in cases:
            result = run_case(case, arena, systems, repeats)
            results.append(result)
            print(text_table([result]), end="\n\n", file=sys.stderr)
    finally:
        arena.stop()
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return RaceResult(_command(), date, describe_machine(), repeats, results)


def _command() -> str:
    return shlex.join(["python", "bench/race.py", *sys.argv[1:]])


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _chosen(patterns: Sequence[str]) -> list[Case]:
    chosen = [case for case in CASES if any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]
    if not chosen:
        names = "\n  ".join(case.name for case in CASES)
        raise SystemExit(f"no case is called {' or '.join(patterns)}; there are\n  {names}")
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", nargs="+", default=["*"], metavar="PATTERN", help="names, with * and ?")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a tenth of the load: a look, not a figure")
    parser.add_argument("--systems", nargs="+", default=[CONTENDER, PEER], choices=[CONTENDER, PEER])
    parser.add_argument("--output", choices=["table", "json"], default="table")
    parser.add_argument("--data", type=Path, help="where the brokers keep their data (a temporary folder)")
    arguments = parser.parse_args()
    stop_servers_on_sigterm()
    cases = _chosen(arguments.cases)
    scale = Scale(QUICK_SHARE if arguments.quick else 1.0)
    with tempfile.TemporaryDirectory(prefix="moldau-race-", dir=arguments.data) as folder:
        result = race(cases, arguments.systems, arguments.repeats, scale, Path(folder))
    document = json.dumps(result.to_json(), indent=1)
    OUT.mkdir(exist_ok=True)
    kept = OUT / f"race-{datetime.datetime.now(datetime.UTC).strftime('%Y%m%d-%H%M%S')}.json"
    kept.write_text(document + "\n")
    print(document if arguments.output == "json" else text_table(result.cases))
    _progress(f"{result.summary}; kept in {kept}")
    return 0 if result.is_passed else 1


if __name__ == "__main__":
    sys.exit(main())
