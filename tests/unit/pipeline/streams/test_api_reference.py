"""docs/guides/streams-api.md is what the docstrings say."""

import subprocess
import sys
from pathlib import Path

from moldau.pipeline import streams

ROOT = Path(__file__).resolve().parents[4]


def test_the_page_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "api-reference"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr


def test_it_has_every_name_that_is_exported() -> None:
    page = (ROOT / "docs" / "guides" / "streams-api.md").read_text()
    missing = [name for name in streams.__all__ if f"## {name}\n" not in page and f"`{name}" not in page]
    assert missing == []
