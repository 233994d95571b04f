"""docs/design/walks.md: a request is followed in at most ten steps, and every step names its file."""

import re

import pytest

from documents import ROOT, Page

STEPS_MAX = 10
PAGE = Page(ROOT / "docs" / "design" / "walks.md")
WALKS = {walk.splitlines()[0]: walk for walk in re.split(r"^## ", PAGE.text, flags=re.MULTILINE)[1:]}


def test_the_walks_are_there() -> None:
    assert len(WALKS) >= 6


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_is_short_and_every_step_names_its_file(name: str) -> None:
    steps = re.findall(r"^\d+\. (.+?)(?=^\d+\. |^$)", WALKS[name], re.MULTILINE | re.DOTALL)
    assert 0 < len(steps) <= STEPS_MAX
    assert [step for step in steps if not re.search(r"\[`[\w/.]+`\]", step)] == []


def test_a_label_is_the_path_of_its_target() -> None:
    used = set(re.findall(r"\[(`[\w/.]+`)\](?!:)", PAGE.text))
    defined = PAGE.definitions()
    assert used == defined.keys()
    assert [label for label, target in defined.items() if not target.endswith("/" + label.strip("`"))] == []
