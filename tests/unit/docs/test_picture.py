"""The picture of docs/DESIGN.md is what its script draws."""

import subprocess
import sys

from documents import ROOT


def test_it_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "design-picture"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
