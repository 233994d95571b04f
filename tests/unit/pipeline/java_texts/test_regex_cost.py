"""Which patterns the quick engine may run, and that it finds what the other one finds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.pipeline.java_texts.regex import _engines
from moldau.pipeline.java_texts.regex_cost import STEPS_MAX, cost


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        ("abc", STEPS_MAX),
        (r"\d+", 1000),
        (r"[a-z]*", 1000),
        (r"\d{4}-\d{2}", STEPS_MAX),
        (r"(\d+)-(\d+)", 100),
        ("a?b", 500_000),
        ("a|b|c", 250_000),
        ("a{2,5}?", 1000),
        (r"\[+", 1000),
    ],
)
def test_the_length_of_a_text_that_is_quick(pattern: str, length: int) -> None:
    assert cost(pattern).quick_length_max == pytest.approx(length, abs=1)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a|b)*", "(ab){2,}", "(?i)a", r"\p{L}", "(?=a)", "a**", "a{x", "(a){3}", "[[:alpha:]]"],
)
def test_what_is_not_that_simple(pattern: str) -> None:
    assert cost(pattern).quick_length_max == 0


@pytest.mark.parametrize(
    ("pattern", "is_never_empty"),
    [
        ("a", True),
        ("x*a", True),
        ("(b|c)?a+", True),
        ("a*", False),
        ("a?", False),
        ("a{0,3}", False),
        ("a|", False),
        ("(a)", True),
        ("(a|b)c?|d", True),
        ("(a|b?)", False),
        ("((a)b*)?", False),
        (r"^\b\z", False),
    ],
)
def test_whether_a_match_may_be_empty(pattern: str, is_never_empty: bool) -> None:
    assert cost(pattern).is_never_empty == is_never_empty


ATOMS = st.sampled_from(["a", "b", ".", r"\d", r"\w", "[ab]", "[^a]", r"\.", r"\b", "^", "$", r"\s"])
REPEATED = st.builds(str.__add__, ATOMS, st.sampled_from(["", "", "*", "+", "?", "*?", "{2}", "{1,3}"]))
SEQUENCES = st.lists(REPEATED, min_size=1, max_size=4).map("".join)
PATTERNS = st.one_of(
    SEQUENCES,
    st.builds("({})".format, SEQUENCES),
    st.builds("{}|({})".format, SEQUENCES, SEQUENCES),
    st.builds("({})?{}".format, SEQUENCES, SEQUENCES),
)


@given(PATTERNS, st.text("ab1. \n", max_size=12))
def test_both_engines_find_the_same(pattern: str, text: str) -> None:
    engines = _engines(pattern)
    if engines.quick is not None:
        found, other = engines.quick.search(text), engines.linear.search(text)
        assert shown(found) == shown(other)
    if engines.scan_length_max > 0:
        assert list(map(shown, engines.quick.finditer(text))) == list(
            map(shown, engines.linear.finditer(text))
        )


def shown(match: Any) -> Any:
    return match and (match.span(), match.groups())
