"""The Python of the streams guide runs."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "streams.md"
EXAMPLES = re.findall(r"^```python\n(.+?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES, ids=range(1, len(EXAMPLES) + 1))
def test_example(code: str) -> None:
    exec(compile(code, str(GUIDE), "exec"), {"__name__": "guide"})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 8
