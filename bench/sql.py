"""SQL beside Kafka Streams in Java and plain PySpark, on one broker and the same topics of JSON.

python bench/sql.py [--records N] [--rounds N] [--cases filter,wide,count,join] [--only SIDE] [--output json]
python bench/sql.py --many [--statements 50] [--seconds 60] [--output json]

The race: a backlog is there before each side starts, the sides take turns, and their results must be equal. Ours and
Kafka Streams work exactly once, PySpark's connector at least once. With `--many` a SQL server hosts many light
statements while it answers pull and push queries. Ends with 1 when a bar is missed, with 2 when results differ.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from confluent_kafka.admin import AdminClient

from pipeline_arena import arena, create
from sql_cases import CASES, fill
from sql_many import many
from sql_results import results
from sql_sides import SIDES

RATIO_BAR = 1.0
OURS = "moldau"


class Line(NamedTuple):
    """`met` None: there is no bar."""

    what: str
    figure: str
    bar: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return f"{self.what:34} {self.figure:52} {self.bar:16} {verdict}".rstrip()


class ResultsDiffer(Exception):
    """Two sides have computed something else."""


def race(
    cases: Sequence[str], sides: Sequence[str], records: int, rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Records a second of each round, by case and side."""
    rates: dict[str, dict[str, list[float]]] = {case: {side: [] for side in sides} for case in cases}
    expected: dict[str, tuple[int, str]] = {}
    with arena() as (servers, folder):
        admin = AdminClient({"bootstrap.servers": servers})
        topics = {CASES[case].topic for case in cases}
        create(servers, "users", *topics)
        fill(servers, topics, records)
        for number in range(rounds):
            for name in cases:
                # What drifts favours neither.
                for side in sides if number % 2 == 0 else reversed(sides):
                    sink = f"{name}-{side}-{number}"
                    create(servers, sink)
                    rate = SIDES[side](CASES[name], servers, folder / sink, sink, records)
                    found = results(servers, sink, last_only=CASES[name].is_table)
                    if expected.setdefault(name, found) != found:
                        raise ResultsDiffer(f"{name}, {side}: {found}, where others have {expected[name]}")
                    admin.delete_topics([sink])[sink].result(60)
                    rates[name][side].append(rate)
                    told = (
                        f"{name:8} {side:14} {rate:12,.0f} records/s, {found[0]:,} rows, load {_load():.1f}"
                    )
                    print(told, file=sys.stderr, flush=True)
    return rates


def lines_of(rates: dict[str, dict[str, list[float]]]) -> list[Line]:
    lines = []
    for case, by_side in rates.items():
        for side, found in by_side.items():
            spread = f"{statistics.median(found):,.0f} records/s ({min(found):,.0f} to {max(found):,.0f})"
            lines.append(Line(f"{case}, {side}", spread))
        for side, found in by_side.items():
            if side != OURS and OURS in by_side:
                ratios = [ours / theirs for ours, theirs in zip(by_side[OURS], found, strict=True)]
                ratio = statistics.median(ratios)
                figure = f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
                lines.append(Line(f"{case}, ratio to {side}", figure, f">= {RATIO_BAR}", ratio >= RATIO_BAR))
    return lines


def _load() -> float:
    return os.getloadavg()[0]


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=2_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--cases", default=",".join(CASES))
    options.add_argument(
        "--only", choices=sorted(SIDES), help="one side by itself: its results are not compared"
    )
    options.add_argument("--many", action="store_true")
    options.add_argument("--statements", type=int, default=50)
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--output", choices=["table", "json"], default="table")
    given = options.parse_args()
    unknown = set(given.cases.split(",")) - set(CASES)
    if unknown:
        raise SystemExit(f"unknown cases {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    load_before = _load()
    document: dict[str, Any] = {}
    if given.many:
        lines = [Line(*one) for one in many(given.statements, given.seconds)]
    else:
        sides = [given.only] if given.only else list(SIDES)
        try:
            rates = race(given.cases.split(","), sides, given.records, given.rounds)
        except ResultsDiffer as difference:
            print(difference, file=sys.stderr)
            return 2
        document = {"records": given.records, "rates": rates}
        lines = lines_of(rates)
    if given.output == "json":
        told = [one._asdict() for one in lines]
        print(json.dumps({**document, "load": [load_before, _load()], "lines": told}, indent=1))
    else:
        print(*lines, sep="\n")
        print(f"load {load_before:.1f} before, {_load():.1f} after")
    return 1 if any(one.met is False for one in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
