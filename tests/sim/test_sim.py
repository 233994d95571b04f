"""Fresh seeds of the simulation, and some with a rule of replication left out, which must fail.

A seed that fails says how to run it again. `MOLDAU_SIM_FIRST` names the first one, to run the same ones again.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sim.broken_rules import BROKEN

TESTS = Path(__file__).parent.parent
SEEDS = int(os.environ.get("MOLDAU_SIM_SEEDS", "100"))
FIRST = int(os.environ.get("MOLDAU_SIM_FIRST") or time.time())
SHARES = 2
"""Tests may run on two cores."""
BROKEN_SEEDS = 60
FIRST_BROKEN = 1000


def simulate(*options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the order of sets of strings is part of a run, so it has to be fixed."""
    return subprocess.run(
        [sys.executable, "-m", "sim", *options],
        cwd=TESTS,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_seeds(share: int) -> None:
    done = simulate("--first", str(FIRST + share), "--count", str(SEEDS // SHARES), "--step", str(SHARES))
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_left_out_is_missed(rule: str) -> None:
    done = simulate("--first", str(FIRST_BROKEN), "--count", str(BROKEN_SEEDS), "--break", rule)
    assert done.returncode == 1, f"{BROKEN_SEEDS} seeds noticed nothing"
    assert "Violation" in done.stderr
    assert "make sim SEED=" in done.stdout


def test_a_seed_is_the_same_each_time() -> None:
    one, other = (simulate("--first", "7", "--verbose") for _ in range(2))
    assert one.returncode == 0, one.stdout + one.stderr
    assert [line for line in one.stderr.splitlines() if "moldau" in line] == [
        line for line in other.stderr.splitlines() if "moldau" in line
    ]
