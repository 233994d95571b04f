"""The evolution cases of `cases/`: for each format the verdict of the seven modes and the words a person sees.

A case is the registered versions, the new schema, and the rule that breaks (or `ok`) each way, derived from the
published rules. Below the line stand the messages. When their wording changes, run with MOLDAU_REWRITE_CASES=1 and
read the diff.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pytest

from moldau.registry.schemas import MODES, Clash, Direction, Existing, check, parse

CASES = Path(__file__).parent / "cases"
TYPES = {"avro": "AVRO", "json_schema": "JSON", "protobuf": "PROTOBUF"}
REWRITE = os.environ.get("MOLDAU_REWRITE_CASES") == "1"


@dataclass
class Case:
    title: str
    versions: list[str] = field(default_factory=list)
    new: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def verdict(self, mode: str) -> set[str]:
        """The rules that break in one of the seven modes."""
        if mode == "NONE":
            return set()
        suffix = " transitive" if mode.endswith("_TRANSITIVE") else ""
        ways = {"BACKWARD": ["backward"], "FORWARD": ["forward"], "FULL": ["backward", "forward"]}
        found = {
            self.verdicts.get(way + suffix, self.verdicts[way])
            for way in ways[mode.removesuffix("_TRANSITIVE")]
        }
        return found - {"ok"}


def read_cases(path: Path) -> Iterator[Case]:
    for block in path.read_text().split("\n== ")[1:]:
        title, *lines = block.rstrip("\n").split("\n")
        case = Case(title)
        rule = lines.index("----")
        case.lines, case.messages = lines[:rule], lines[rule + 1 :]
        for line in case.lines:
            key, _, value = line.partition(": ")
            if key.isdigit():
                case.versions.append(value)
            elif key == "new":
                case.new = value
            else:
                case.verdicts[key] = value
        yield case


def all_cases() -> list[tuple[str, Case]]:
    return [(name, case) for name in TYPES for case in read_cases(CASES / f"{name}.txt")]


understood = lru_cache(maxsize=None)(parse)


def clashes(name: str, case: Case, mode: str) -> list[Clash]:
    kind = TYPES[name]
    versions = [Existing(number, understood(kind, text)) for number, text in enumerate(case.versions, 1)]
    return check(mode, parse(kind, case.new), versions)


def printed(name: str, case: Case) -> list[str]:
    return [clash.message for clash in clashes(name, case, "FULL_TRANSITIVE")]


@pytest.mark.parametrize(
    ("name", "case"), [pytest.param(name, case, id=f"{name}: {case.title}") for name, case in all_cases()]
)
def test_verdict_in_every_mode(name: str, case: Case) -> None:
    for mode in MODES:
        found = clashes(name, case, mode)
        assert bool(found) == bool(case.verdict(mode)), (mode, [clash.message for clash in found])
        assert case.verdict(mode) <= {clash.rule for clash in found}, mode
        if not mode.endswith("_TRANSITIVE"):
            assert {clash.version for clash in found} <= {len(case.versions)}
        if mode.startswith(("BACKWARD", "FORWARD")):
            assert {clash.direction for clash in found} <= {Direction(mode.removesuffix("_TRANSITIVE"))}


@pytest.mark.parametrize("name", TYPES)
def test_messages_are_those_written_down(name: str) -> None:
    path = CASES / f"{name}.txt"
    text = path.read_text()
    head = text.partition("\n== ")[0]
    blocks = ["\n".join([f"== {c.title}", *c.lines, "----", *printed(name, c)]) for c in read_cases(path)]
    after = "\n\n".join([head.rstrip("\n"), *blocks]) + "\n"
    if REWRITE:
        path.write_text(after)
    assert after == path.read_text(), (
        f"{path.name} drifted: run with MOLDAU_REWRITE_CASES=1 and read the diff"
    )


@pytest.mark.parametrize(("name", "least"), [("avro", 60), ("json_schema", 60), ("protobuf", 40)])
def test_there_are_enough_cases_and_each_has_its_own_title(name: str, least: int) -> None:
    titles = [case.title for case in read_cases(CASES / f"{name}.txt")]
    assert len(titles) >= least
    assert len(set(titles)) == len(titles)
