"""The Python of the streams guide runs."""

import pytest

from documents import GUIDES, Page

GUIDE = GUIDES / "streams.md"
EXAMPLES = [block.text for block in Page(GUIDE).blocks("python")]


@pytest.mark.parametrize("code", EXAMPLES, ids=range(1, len(EXAMPLES) + 1))
def test_example(code: str) -> None:
    exec(compile(code, str(GUIDE), "exec"), {"__name__": "guide"})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 8
