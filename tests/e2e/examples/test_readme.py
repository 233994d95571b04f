"""The README is true: its commands print what it shows, and its Python runs."""

import re
from pathlib import Path

import pytest

from e2e.examples.programs import ROOT, run_python
from e2e.examples.transcript import comparable, runs
from moldau.pipeline.streams import StreamsBuilder
from moldau.testing import TopologyTestDriver

pytestmark = pytest.mark.slow


def python_in(title: str) -> str:
    section = (ROOT / "README.md").read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    [code] = re.findall(r"^```python\n(.+?)^```$", section, re.MULTILINE | re.DOTALL)
    assert isinstance(code, str)
    return code


def test_the_transcript() -> None:
    """When a message was reworded, `python -m e2e.examples.transcript` writes the new one into the README."""
    commands = 0
    for command, shown, printed in runs():
        assert comparable(printed) == comparable(shown), command
        commands += 1
    assert commands == 7


def test_the_test_file(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(python_in("In your tests"))
    assert "1 passed" in run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))


def test_the_topology() -> None:
    names: dict[str, StreamsBuilder] = {}
    exec(python_in("Streams and DataFrames"), names)  # type: ignore[arg-type]
    with TopologyTestDriver(names["builder"].build()) as driver:
        driver.pipe("lines", None, "the Moldau flows through the town")
        assert driver.read_table("words")["the"] == 2
