"""Runs an example as a user does: a process of its own, started from the root of the repository."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PATIENCE_S = 300


def run_python(*arguments: str) -> str:
    """What it prints; it must end with code 0 and write nothing but warnings of libraries to standard error."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
