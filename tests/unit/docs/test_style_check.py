"""tools/style-check reads what people read, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from documents import ROOT


def checked(file: Path, text: str) -> list[str]:
    file.write_text(text)
    command = [sys.executable, str(ROOT / "tools" / "style-check"), str(file)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    complaints = found.stdout.splitlines() if found.returncode else []
    return [complaint.removeprefix(f"{file}:").split(" (")[0] for complaint in complaints]


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("Ask whoever leads.\n", ['1: "whoever"']),
        ("One.\n\nIt is\ntold why.\n", ['3: "is told why"']),
        ("The name `whoever` and\n\n```python\nwhoever = 1\n```\n", []),
        ("Ask the leader.\n", []),
    ],
)
def test_markdown(tmp_path: Path, text: str, complaints: list[str]) -> None:
    assert checked(tmp_path / "page.md", text) == complaints


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ('"""Begins\nanew."""\n', ['2: "anew"']),
        ("anew = 1  # Begins anew.\n", ['1: "anew"']),
        ('raise ValueError("nobody may do that")\n', ['1: "nobody may"']),
        ("whoever = anew = 1\n", []),
    ],
)
def test_python(tmp_path: Path, text: str, complaints: list[str]) -> None:
    assert checked(tmp_path / "module.py", text) == complaints
