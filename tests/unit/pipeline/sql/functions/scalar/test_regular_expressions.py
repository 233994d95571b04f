"""Java's regular expressions: what RE2 runs, what Python runs, and what is refused."""

import pytest
from scalar_examples import value_of

from moldau.pipeline.java_texts import regex as java_regex


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("REGEXP_EXTRACT('x', 'abc')", None),
        ("REGEXP_EXTRACT('(a)(x)?', 'abc', 2)", None),
        ("REGEXP_EXTRACT('(a)', 'abc', 2)", None),
        ("REGEXP_EXTRACT(NULL, 'abc')", None),
        ("REGEXP_EXTRACT('ž.+', 'je žlutý')", "žlutý"),
        ("REGEXP_EXTRACT_ALL('x', 'abc')", []),
        ("REGEXP_EXTRACT_ALL('(a)|b', 'ab', 1)", ["a", None]),
        ("REGEXP_EXTRACT_ALL('(a)', 'abc', 3)", None),
        ("REGEXP_REPLACE('abab', '(a)(b)', '$2$1')", "baba"),
        ("REGEXP_REPLACE('a', '(?<name>a)', '${name}${name}')", "aa"),
        ("REGEXP_REPLACE('10', '1', '\\$')", "$0"),
        ("REGEXP_REPLACE('ab', '(x)?b', '<$1>')", "a<>"),
        ("REGEXP_REPLACE('abc', '', '-')", "-a-b-c-"),
        ("REGEXP_REPLACE('abc', 'b', NULL)", None),
        ("REGEXP_SPLIT_TO_ARRAY('abc', 'x')", ["abc"]),
        ("REGEXP_SPLIT_TO_ARRAY('xabxx', 'x')", ["", "ab", "", ""]),
        ("REGEXP_SPLIT_TO_ARRAY('a1b', '(\\d)')", ["a", "b"]),
        ("REGEXP_SPLIT_TO_ARRAY('abc', 'x*')", ["a", "b", "c"]),
        ("REGEXP_SPLIT_TO_ARRAY('', 'x')", [""]),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\p{Alpha}+", "12ab", "ab"),
        (r"[\p{Alpha}_]+", "-a_b-", "a_b"),
        (r"\P{Digit}+", "12ab", "ab"),
        (r"\p{Punct}", "a!b", "!"),
        (r"\p{IsAlphabetic}+", "1žlutý", "žlutý"),
        (r"\p{Lu}", "aŽ", "Ž"),
        (r"\p{IsGreek}+", "aλ", "λ"),
        (r"\Qa.b\E+", "aab a.bb", "a.bb"),
        (r"a\h+b", "a \tb", "a \tb"),
        (r"a\Rb", "a\r\nb", "a\r\nb"),
        (r"b\Z", "ab\n", "b\n"),
        ("\\u0041+", "xAA", "AA"),
        (r"(?i)ABC", "xabc", "abc"),
        (r"[a[bc]]+", "xabcd", "abc"),
        (r"[+--]+", "a+,-b", "+,-"),
        (r"a\sb", "a\x0bb", "a\x0bb"),
        (r"a\Sb", "a\x0bb", None),
        (r"b$", "b\nb\n", None),
        (r"(?m)b$", "b\nc", "b"),
        (r"(?<year>\d{4})", "in 2024", "2024"),
    ],
)
def test_what_java_reads_in_its_own_way(pattern: str, text: str, found: str | None) -> None:
    assert value_of_search(pattern, text) == found


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\w+(?=;)", "ab;cd", "ab"),
        (r"(?<=\$)\d+", "a $42", "42"),
        (r"(?<!a)b\u0043", "abC bC", "bC"),
        (r"(\w)\1", "abba", "bb"),
        (r"(?<c>\w)\w\k<c>", "abcb", "bcb"),
        (r"a++b", "aaab", "aaab"),
        (r"(?>a+)b\h", "aab ", "aab "),
    ],
)
def test_what_re2_does_not_have_runs_in_python(pattern: str, text: str, found: str) -> None:
    assert value_of_search(pattern, text) == found


def value_of_search(pattern: str, text: str) -> str | None:
    match = java_regex.to_search(pattern, text).search(text)
    return None if match is None else str(match.group(0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("REGEXP_EXTRACT('(', 'a')", "'\\(' is no regular expression: "),
        ("REGEXP_EXTRACT('\\p{Nothing}', 'a')", "is no regular expression"),
        ("REGEXP_EXTRACT('[a-z&&[^b]]', 'a')", "&&, which is not supported"),
        ("REGEXP_EXTRACT('[a[^b]]', 'a')", "negates a class inside of a class, which is not supported"),
        ("REGEXP_EXTRACT('[\\P{Alpha}]', 'a')", "negate the class instead"),
        ("REGEXP_EXTRACT('a', 'a', -1)", "-1 is no group"),
        ("REGEXP_REPLACE('a', 'a', '$')", "write \\\\\\$ for \\$"),
        ("REGEXP_REPLACE('a', 'a', '$1')", "'\\$1' names a group"),
        ("REGEXP_REPLACE('a', 'a', '${x}')", "names a group"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value_of(text)


def test_a_pattern_that_would_take_for_ever_elsewhere() -> None:
    assert value_of(f"REGEXP_EXTRACT('(a|a)*$', '{'a' * 60}b')") == ""
