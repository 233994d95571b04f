"""Columns for people."""

import pytest

from moldau.cli.commands.groups.group_report import assignment_text
from moldau.cli.render.output import bytes_text, columns, counted, csv_text, seconds_text
from moldau.core.ids import TopicPartition


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


def test_columns_in_which_nothing_is_known_may_be_left_out() -> None:
    rows = [("a", None, 1), ("b", None, None)]
    assert columns(("X", "Y", "Z"), rows, drop_empty=True) == "X  Z\na  1\nb  -"


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2_500_000, "2.5 MB"), (7e15, "7000.0 TB")],
)
def test_sizes(size_bytes: float, text: str) -> None:
    assert bytes_text(size_bytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "0.25s"),
        (59.94, "59.9s"),
        (60, "1m0s"),
        (3_725, "1h2m"),
        (86_400 * 3 + 14_500, "3d4h"),
    ],
)
def test_spans(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_assignments_are_short() -> None:
    places = [TopicPartition("orders", number) for number in (5, 0, 2, 1)] + [TopicPartition("bills", 1)]
    assert assignment_text(places) == "bills:1 orders:0-2,5"
    assert assignment_text([]) == "none"


def test_csv_has_the_names_of_the_json() -> None:
    rows = [
        {"topic": "a,b", "leader": None, "isr": [1, 2], "ok": True},
        {"topic": "c", "isr": [], "deep": [{"x": 1}]},
    ]
    assert csv_text(rows).splitlines() == [
        "topic,leader,isr,ok,deep",
        '"a,b",,"1,2",true,',
        'c,,,,"[{""x"":1}]"',
    ]
    assert csv_text([]) == ""
