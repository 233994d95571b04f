"""Lines into records."""

import pytest

from moldau.cli.failures import Failure
from moldau.cli.produce import split_lines


def test_a_line_is_a_value_without_key() -> None:
    assert list(split_lines([b"a", b""], None, None, None)) == [(None, b"a"), (None, b"")]


def test_one_key_for_all() -> None:
    assert list(split_lines([b"a", b"b"], "k", None, None)) == [(b"k", b"a"), (b"k", b"b")]


def test_the_first_separator_parts_key_and_value() -> None:
    assert list(split_lines([b"k:a:b", b":x"], None, ":", None)) == [(b"k", b"a:b"), (b"", b"x")]


def test_a_tab_can_be_named_in_any_shell() -> None:
    assert list(split_lines([b"k\tv"], None, "\\t", None)) == [(b"k", b"v")]


def test_a_line_without_separator_is_named_after_those_before_it_were_given_out() -> None:
    records = split_lines([b"k:a", b"oops"], None, ":", None)
    assert next(records) == (b"k", b"a")
    with pytest.raises(Failure, match="line 2 has no key"):
        next(records)


def test_the_null_marker_makes_a_tombstone_and_nothing_else_does() -> None:
    lines = [b"k:NULL", b"k:NULL ", b"k:"]
    assert list(split_lines(lines, None, ":", "NULL")) == [(b"k", None), (b"k", b"NULL "), (b"k", b"")]
    assert list(split_lines([b"k:"], None, ":", None)) == [(b"k", b"")]
