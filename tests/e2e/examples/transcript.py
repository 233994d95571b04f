"""The terminal transcript of the README: its commands, run in their order, and what they print.

`PYTHONPATH=src:tests .venv/bin/python -m e2e.examples.transcript` writes what they print now into the README.
Read the diff.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from e2e.examples.programs import PATIENCE_S, ROOT
from moldau.testing import LocalCluster

README = ROOT / "README.md"
START, END = "\n## What it looks like\n", "\nEvery command is a Kafka client"
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ |```).+\n|\n(?!\$ ))*)", re.MULTILINE)
TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "2026-01-31T12:00:00.123Z"),
    (re.compile(r"\S+ ago"), "0.188s ago"),
)


def transcript() -> str:
    text = README.read_text()
    return text[text.index(START) : text.index(END)]


def runs() -> Iterator[tuple[str, str, str]]:
    """Each command, what the README shows, and what it prints."""
    with LocalCluster(registry=True) as cluster:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "MOLDAU_BOOTSTRAP_SERVER": cluster.bootstrap_servers,
            "MOLDAU_REGISTRY": cluster.registry_url,
            "XDG_CONFIG_HOME": os.devnull,
        }
        for command, shown in COMMAND.findall(transcript()):
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
            yield command, shown, done.stdout


def comparable(text: str) -> Counter[str]:
    """Its lines without times and widths. Standard output and error may reach a pipe in another order."""
    for pattern, fixed in TIMES:
        text = pattern.sub(fixed, text)
    return Counter(" ".join(line.split()) for line in text.splitlines() if line.strip())


def rewrite() -> None:
    text = README.read_text()
    for command, shown, printed in runs():
        if comparable(shown) != comparable(printed):
            for pattern, fixed in TIMES:
                printed = pattern.sub(fixed, printed)
            text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{printed}")
    README.write_text(text)


if __name__ == "__main__":
    rewrite()
