"""python -m sim [--first SEED] [--count N]: runs seeds and stops at the first that fails, with how to run it again."""

import argparse
import logging
import os
import sys
import time
import traceback

from sim.broken_rules import BROKEN, break_rule
from sim.run import run_seed


def main() -> int:
    parser = argparse.ArgumentParser(prog="sim", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many")
    parser.add_argument("--step", type=int, default=1, help="from one seed to the next")
    parser.add_argument("--verbose", action="store_true", help="say what brokers say")
    parser.add_argument(
        "--break", dest="broken", choices=BROKEN, help="a rule to leave out, to see it missed"
    )
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets of strings is part of a run.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "sim", *sys.argv[1:]])
    logging.basicConfig(level=logging.INFO if options.verbose else logging.CRITICAL + 1)
    if options.broken:
        break_rule(options.broken)
    begun = time.perf_counter()
    totals = [0, 0, 0, 0]
    for seed in range(options.first, options.first + options.count * options.step, options.step):
        try:
            report, _ = run_seed(seed)
        except BaseException:  # noqa: BLE001 Whatever it was, the seed must be told.
            traceback.print_exc()
            print(f"seed {seed} failed. To run it again: make sim SEED={seed}")
            return 1
        for at, number in enumerate(
            (report.acknowledged, report.read, report.transactions, report.generations)
        ):
            totals[at] += number
    print(
        f"{options.count} seeds from {options.first} in {time.perf_counter() - begun:.1f} s: {totals[0]} records "
        f"acknowledged, {totals[1]} read, {totals[2]} transactions committed, {totals[3]} generations"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
