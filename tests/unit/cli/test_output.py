"""Columns for people."""

from moldau.cli.output import columns, counted


def test_numbers_stand_right_text_left_and_the_unknown_is_a_dash() -> None:
    text = columns(("NAME", "COUNT", "LEADER"), [("orders", 3, 1), ("x", 12, None)])
    assert text.splitlines() == [
        "NAME    COUNT  LEADER",
        "orders      3       1",
        "x          12       -",
    ]


def test_lines_carry_no_blanks_at_their_end() -> None:
    assert columns(("A", "B"), [("long text", "x"), ("y", "longer")]).splitlines()[0] == "A          B"


def test_headings_alone_when_there_are_no_rows() -> None:
    assert columns(("A", "B"), []) == "A  B"


def test_counts_are_grouped_and_agree_with_their_noun() -> None:
    assert [counted(0, "record"), counted(1, "record"), counted(1234567, "record")] == [
        "0 records",
        "1 record",
        "1,234,567 records",
    ]
