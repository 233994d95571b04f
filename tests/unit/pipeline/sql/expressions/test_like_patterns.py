"""LIKE: what matches, and that no pattern takes for ever."""

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.pipeline.sql.expressions.like_patterns import like_matcher


@pytest.mark.parametrize(
    ("text", "pattern", "escape", "matches"),
    [
        ("", "", None, True),
        ("", "%", None, True),
        ("", "_", None, False),
        ("abc", "abc", None, True),
        ("abc", "ab", None, False),
        ("abc", "a%", None, True),
        ("abc", "%c", None, True),
        ("abc", "a_c", None, True),
        ("abc", "%b%", None, True),
        ("aba", "aba%aba", None, False),
        ("ab\nc", "a%c", None, True),
        ("\n", "_", None, True),
        ("axbxc", "a_b%_c", None, True),
        ("100%", "100!%", "!", True),
        ("1000", "100!%", "!", False),
        ("a_b", "a!_b", "!", True),
        ("axb", "a!_b", "!", False),
        ("a!b", "a!!b", "!", True),
        ("a!", "a!", "!", True),
        ("a.c", "a.c", None, True),
        ("abc", "a.c", None, False),
    ],
)
def test_what_matches(text: str, pattern: str, escape: str | None, matches: bool) -> None:
    assert like_matcher(pattern, escape)(text) is matches


@given(text=st.text("ab%_", max_size=8), pattern=st.text("ab%_!", max_size=6))
def test_as_the_regular_expression_that_it_means(text: str, pattern: str) -> None:
    parts, characters = [], iter(pattern)
    for one in characters:
        if one == "!":
            parts.append(re.escape(next(characters, one)))
        else:
            parts.append({"%": ".*", "_": "."}.get(one, re.escape(one)))
    expected = re.fullmatch("".join(parts), text, re.S) is not None
    assert like_matcher(pattern, "!")(text) is expected


@pytest.mark.parametrize("part", ["%a", "%_", "%a_", "%%a"])
def test_many_percent_signs_end(part: str) -> None:
    """With backtracking one of these would outlast the machine."""
    assert not like_matcher(part * 30 + "%b", None)("a" * 200)
    assert like_matcher(part * 30 + "%b", None)("a" * 200 + "b")


def test_a_worker_can_be_sent_one() -> None:
    matches = pickle.loads(pickle.dumps(like_matcher("a%b_c%", None)))
    assert matches("a--bxc--")
    assert not matches("a--bc--")
