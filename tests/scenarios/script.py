"""Scenario scripts: text files of commands with the transcript they must produce.

A script is a title line starting with `#`, then blocks of command lines, a line `----` and what the commands print.
Blank lines part the blocks; lines starting with `#` between blocks are remarks and stay. When a script drifts, run
its tests with `--rewrite` and read the diff.
"""

from collections.abc import Callable
from pathlib import Path

RULE = "----"


def run_script(path: Path, handle: Callable[[str], list[str]], *, rewrite: bool) -> None:
    """`handle` takes one command line and returns the lines it prints."""
    before = path.read_text()
    after = transcript(before, handle)
    if rewrite:
        path.write_text(after)
        return
    assert after == before, f"{path.name} drifted: run its tests with --rewrite and read the diff"


def transcript(script: str, handle: Callable[[str], list[str]]) -> str:
    title, _, rest = script.partition("\n")
    assert title.startswith("# "), "a script starts with its title"
    blocks = [title]
    for block in rest.split("\n\n"):
        commands = block.strip().partition(f"\n{RULE}")[0].strip()
        if not commands:
            continue
        lines = commands.splitlines()
        printed = [printed for line in lines if not line.startswith("#") for printed in handle(line)]
        is_remark = all(line.startswith("#") for line in lines)
        blocks.append(commands if is_remark else "\n".join([commands, RULE, *printed]))
    return "\n\n".join(blocks) + "\n"
