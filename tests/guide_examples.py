"""The Python of the testing guide, as test files."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "testing.md"
_HEADING_OR_EXAMPLE = re.compile(r"^## ([^\n]+)$|^```python\n(.+?)^```$", re.MULTILINE | re.DOTALL)


def guide_examples() -> dict[str, str]:
    """Each by a name made of the heading it stands under."""
    examples: dict[str, str] = {}
    section = ""
    for heading, code in _HEADING_OR_EXAMPLE.findall(GUIDE.read_text(encoding="utf-8")):
        if heading:
            section = re.sub(r"\W+", "_", heading.lower())
        else:
            examples[f"{section}_{len(examples) + 1}"] = code
    return examples
