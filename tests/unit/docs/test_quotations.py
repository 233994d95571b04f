"""What the front pages quote is what they quote from: figures of the results, code of the tree, the drawn picture."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FIGURES = re.compile(r"^\| [^|]+ \| ([\d.,]+) \| ([\d.,]+) \| (?:`make|the same)", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.+?)^```$", re.MULTILINE | re.DOTALL)


def test_every_figure_is_in_the_results() -> None:
    results = (ROOT / "bench" / "RESULTS.md").read_text()
    rows = FIGURES.findall((ROOT / "README.md").read_text())
    assert len(rows) == 12
    for ours, theirs in rows:
        row = rf"^\|[^\n]* {re.escape(ours)}[ \n][^\n]*\| {re.escape(theirs)}[ \n]"
        assert re.search(row, results, re.MULTILINE), (ours, theirs)


def test_the_picture_is_what_its_program_writes() -> None:
    command = [sys.executable, str(ROOT / "tools" / "readme-picture"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr


def test_the_code_quoted_for_contributors_is_in_the_tree() -> None:
    """Line by line, in one of the files that the same part of the page names."""
    parts = (ROOT / "CONTRIBUTING.md").read_text().split("\n## ")
    quoted = {part: "".join(PYTHON.findall(part)) for part in parts}
    assert sum(map(bool, quoted.values())) == 3
    for part, code in quoted.items():
        named = [ROOT / path for path in re.findall(r"`(src/[\w/]+\.py)`", part)]
        source = {" ".join(line.split()) for path in named for line in path.read_text().splitlines()}
        lines = {" ".join(line.split()) for line in code.splitlines()} - {""}
        # In a list the line ends with a comma.
        assert {line for line in lines if not {line, f"{line},"} & source} == set()
