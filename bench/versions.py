"""Two checkouts of Moldau, in turns: has a change made anything slower?

    python bench/versions.py --before ../before [--rounds N] [--full] [--cases PATTERN ...]

Each round runs the cases of `bench/race.py` once in either checkout, in alternating order. Prints the medians, the
lowest and highest value of each side, and the ratio of the medians. `--full` runs the whole load instead of a tenth.
Both checkouts need a `.venv`.
"""

import argparse
import json
import os
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
CASES = (
    "throughput/100B-1p-acks_all-none",
    "throughput/100B-6p-acks_all-none",
    "throughput/1024B-1p-acks_all-none",
    "linger0/*",
    "end-to-end/1000-per-s",
    "start-and-idle",
)
Values = dict[tuple[str, str, str], dict[str, list[float]]]


def run(checkout: Path, cases: list[str], *, full: bool) -> list[dict[str, Any]]:
    paths = [str(checkout / folder) for folder in ("src", "tests", "bench")]
    command = [
        ".venv/bin/python",
        "bench/race.py",
        "--systems",
        "moldau",
        "--repeats",
        "1",
        "--output",
        "json",
    ]
    command += [*([] if full else ["--quick"]), "--cases", *cases]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    found, _ = json.JSONDecoder().raw_decode(done.stdout[done.stdout.index("{") :])
    cases_found: list[dict[str, Any]] = found["cases"]
    return cases_found


def told(values: list[float]) -> str:
    return f"{statistics.median(values):,.4g} ({min(values):,.4g} to {max(values):,.4g})"


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--before", type=Path, required=True)
    options.add_argument("--rounds", type=int, default=8)
    options.add_argument("--full", action="store_true")
    options.add_argument("--cases", nargs="+", default=list(CASES))
    given = options.parse_args()
    checkouts = {"before": given.before.resolve(), "after": HERE}
    values: Values = defaultdict(lambda: {side: [] for side in checkouts})
    for number in range(given.rounds):
        for side in sorted(checkouts, reverse=number % 2 == 0):
            for case in run(checkouts[side], given.cases, full=given.full):
                for one in case["comparisons"]:
                    measure = one["measure"]
                    values[case["name"], measure["name"], measure["unit"]][side] += one["values"].get(
                        "moldau", []
                    )
    for (case, measure, unit), sides in values.items():
        if all(sides.values()):
            ratio = statistics.median(sides["after"]) / statistics.median(sides["before"])
            print(f"{case:34} {measure:20} {unit:12} before {told(sides['before']):36} ", end="")
            print(f"after {told(sides['after']):36} ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
