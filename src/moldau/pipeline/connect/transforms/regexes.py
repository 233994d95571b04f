"""The check of settings that are regular expressions."""

from typing import Final

from moldau.core.settings.checks import Check
from moldau.pipeline.java_texts.regex import to_search


def _is_regex(text: str) -> bool:
    try:
        to_search(text, "")
    except ValueError:
        return False
    return True


REGEX: Final = Check(_is_regex, " that is a regular expression, as Java writes them", "orders-(.*)")
