"""Patterns consumers subscribe by: RE2's syntax, matched in linear time."""

import re
import time

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from moldau.broker.group.regex import LENGTH_MAX, pattern
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("orders-.*", ["orders-1", "orders-"], ["orders", "old-orders-1"]),
        ("orders", ["orders"], ["orders-1"]),
        ("a|b|cd", ["a", "cd"], ["c", "ab"]),
        ("^x{2,3}$", ["xx", "xxx"], ["x", "xxxx"]),
        ("x{2}", ["xx"], ["x", "xxx"]),
        ("x{2,}y??", ["xx", "xxxy"], ["x", "xy"]),
        ("x{,2}", ["x{,2}"], ["x"]),
        (r"\Qa.b\E+", ["a.b", "a.bb"], ["axb"]),
        (r"[[:alpha:]]+\d", ["ab1"], ["1", "ab"]),
        ("[[:^digit:]]", ["a"], ["1"]),
        ("[^a-c]", ["d", "-"], ["a"]),
        ("[]a-]+", ["]-a"], ["b"]),
        (r"[\w.]+", ["a_1."], ["a-1"]),
        (r"\x61\x{62}\t?", ["ab"], ["x61"]),
        ("(?i)or(?-i)Ders", ["ORDers", "orDers"], ["orders"]),
        ("(?i:A)b", ["ab", "Ab"], ["aB"]),
        ("(?i)[^a]b", ["cB"], ["ab", "AB"]),
        ("(?P<one>a)(?<two>b)(?:c)", ["abc"], ["ab"]),
        (r"\Aa\z", ["a"], ["aa"]),
        (r"a\b.*", ["a-b", "a"], ["ab"]),
        (r"a\B.*", ["ab"], ["a-b"]),
        (r"\D\S\W", ["aa-"], ["1a-", "aaa"]),
        ("", [""], ["a"]),
    ],
)
def test_matches(text: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes + no if pattern(text).matches(name)] == yes


MALFORMED = """( ) a** a*+ (?=a) (?<!a)b (a)\\1 [a [b-a] [a-\\d] [[:no:]] *a (?x)a a{2,1} a{1001} \\p{Q} (?<x \\Z \\"""
TOO_LARGE = ["a" * (LENGTH_MAX + 1), r"(\pL{900}|b){1,2}", "((a{100}){100}){100}"]


@pytest.mark.parametrize("text", [*MALFORMED.split(), *TOO_LARGE])
def test_refuses(text: str) -> None:
    with pytest.raises(ApiError) as refusal:
        pattern(text)
    assert refusal.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert "is not a valid regular expression: " in (refusal.value.message or "")


def test_a_hostile_pattern_takes_no_longer_than_others() -> None:
    started = time.process_time()
    assert not pattern("(a*)*(.*.*)*(a|aa)+b").matches("a" * 249)
    assert time.process_time() - started < 1


atoms = st.sampled_from(["a", "b", "-", ".", "[ab]", "[^a]", r"\w", r"\W", "^", "$", r"\b", r"\B"])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{1,}"])),
    ),
    max_leaves=6,
)


@given(patterns, st.text("ab-", min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_agrees_with_python_where_both_know_the_syntax(text: str, name: str) -> None:
    assert pattern(text).matches(name) == bool(re.fullmatch(text, name))
