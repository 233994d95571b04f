"""Masks of parts of a text, and wrong masks."""

import pytest
from scalar_examples import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("MASK('Žluť 7٣')", "Xxxx-nn"),
        ("MASK(NULL)", None),
        ("MASK('')", ""),
        ("MASK('aB1-', NULL, NULL, NULL, NULL)", "aB1-"),
        ("MASK_LEFT('abc', 9)", "xxx"),
        ("MASK_LEFT('abc', 0)", "abc"),
        ("MASK_LEFT(NULL, 2)", None),
        ("MASK_LEFT('abc', NULL)", None),
        ("MASK_RIGHT('abc', 0)", "abc"),
        ("MASK_RIGHT('abc', 2, 'A', 'b', 'c', 'd')", "abb"),
        ("MASK_KEEP_LEFT('abc', 9)", "abc"),
        ("MASK_KEEP_LEFT('abc', 0)", "xxx"),
        ("MASK_KEEP_RIGHT('abc', 0)", "xxx"),
        ("MASK_KEEP_RIGHT('abc', 9)", "abc"),
    ],
)
def test_values(text: str, value: str | None) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MASK('a', 'XX', 'x', 'n', '-')", "'XX' is no mask"),
        ("MASK('a', '', 'x', 'n', '-')", "'' is no mask"),
        ("MASK_LEFT('a', -1)", "-1 characters"),
        ("MASK_KEEP_RIGHT('a', -1)", "-1 characters"),
    ],
)
def test_wrong_masks(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value_of(text)
