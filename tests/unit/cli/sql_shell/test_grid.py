"""Tables that fit a width."""

from moldau.cli.sql_shell.grid import Style, layout_of_stream, table
from moldau.cli.sql_shell.values import parsed


def test_numbers_are_to_the_right_and_text_to_the_left() -> None:
    assert table(("Name", "Count"), [("a", 5), ("bc", 12345678)], Style(40)) == [
        "Name | Count",
        "-----+---------",
        "a    |        5",
        "bc   | 12345678",
    ]


def test_a_long_cell_continues_on_the_next_line() -> None:
    lines = table(("Id", "Text"), [(1, "the quick brown fox jumps over the lazy dog")], Style(30))
    assert lines[2:] == [" 1 | the quick brown fox jumps", "   | over the lazy dog"]
    assert max(map(len, lines)) <= 30


def test_a_long_cell_is_cut() -> None:
    lines = table(("Id", "Text"), [(1, "abcdefghijklmnopqrstuvwxyz")], Style(20, wrap=False))
    assert lines[2:] == [" 1 | abcdefghijklmn…"]


def test_too_many_columns_become_a_list() -> None:
    lines = table([f"column_{number}" for number in range(9)], [list(range(9))], Style(40))
    assert lines[0].startswith("-[ row 1 ]-")
    assert lines[9] == "column_8 | 8"


def test_a_pipe_has_no_width() -> None:
    assert table(("Text",), [("x" * 500,)], Style())[2] == "x" * 500


def test_wide_characters_take_two_columns() -> None:
    assert table(("Name", "N"), [("東京", 1), ("Bonn", 2)], Style(20))[2:] == ["東京 | 1", "Bonn | 2"]


def test_control_characters_are_shown_not_sent() -> None:
    assert table(("Text",), [("a\x1b[31m\nb",)], Style(40))[2] == r"a\x1b[31m\nb"


def test_numbers_keep_their_digits() -> None:
    (row,) = [parsed('[1.50, {"a": [null, true]}, 1e400]')]
    assert table(("D", "S", "E"), [row], Style())[2] == "1.50 | {a=[null, true]} | 1e400"


def test_columns_of_a_running_query_have_room_for_their_types() -> None:
    chosen = layout_of_stream(("ID", "N", "AT"), ("STRING", "BIGINT", "TIMESTAMP"), [], Style(60))
    (line,) = chosen.row_lines(["a", 7, "2024-01-01T00:00:00.000"], 1)
    assert line.endswith("| 2024-01-01T00:00:00.000")
    assert len(line) <= 60


def test_the_width_of_columns_can_be_set() -> None:
    chosen = layout_of_stream(("ID", "N"), ("STRING", "BIGINT"), [], Style(60, column_width=5))
    assert chosen.widths == (5, 5)
