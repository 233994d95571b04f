"""The README is true: its commands print what it shows, and its Python runs."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from e2e.examples.programs import PATIENCE_S, ROOT, run_python
from moldau.pipeline.streams import StreamsBuilder
from moldau.testing import LocalCluster, TopologyTestDriver

pytestmark = pytest.mark.slow

TEXT = (ROOT / "README.md").read_text()
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "<time>"),
    (re.compile(r"\S+ ago"), "<while> ago"),
)


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.+?)^```$", text, re.MULTILINE | re.DOTALL)


def comparable(text: str) -> Counter[str]:
    """Its lines without times and widths. Standard output and error may reach a pipe in another order."""
    for pattern, mark in TIMES:
        text = pattern.sub(mark, text)
    return Counter(" ".join(line.split()) for line in text.splitlines() if line.strip())


def test_the_transcript() -> None:
    transcript = COMMAND.findall("".join(blocks(section("What it looks like"), "console")))
    assert len(transcript) == 7
    with LocalCluster(registry=True) as cluster:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "MOLDAU_BOOTSTRAP_SERVER": cluster.bootstrap_servers,
            "MOLDAU_REGISTRY": cluster.registry_url,
            "XDG_CONFIG_HOME": os.devnull,
        }
        for command, shown in transcript:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
            assert comparable(done.stdout) == comparable(shown), command


def test_the_test_file(tmp_path: Path) -> None:
    [code] = blocks(section("In your tests"), "python")
    (tmp_path / "test_shop.py").write_text(code)
    assert "1 passed" in run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))


def test_the_topology() -> None:
    [code] = blocks(section("Streams and DataFrames"), "python")
    names: dict[str, StreamsBuilder] = {}
    exec(code, names)  # type: ignore[arg-type]
    with TopologyTestDriver(names["builder"].build()) as driver:
        driver.pipe("lines", None, "the Moldau flows through the town")
        assert driver.read_table("words")["the"] == 2
