"""Text that is wrong, huge or hostile: a clear error with its place, soon, and never a crash."""

import time

import pytest

from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tokens import TEXT_CHARACTERS_MAX

SECONDS_MAX = 20
"""Machines are slow; on an idle one each of these takes under a second."""


def refused(text: str) -> SqlError:
    start = time.monotonic()
    with pytest.raises(SqlError) as caught:
        parse(text)
    assert time.monotonic() - start < SECONDS_MAX
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("SELECT 'open FROM s;", 1, 8, "the string that begins here has no end"),
        ("SELECT a\nFROM `s;", 2, 6, "the quoted name that begins here has no end"),
        ("SELECT a /* b\nFROM s;", 1, 10, "the comment that begins here has no end"),
        ("CREATE STREAM s (a ARRAY<INT) WITH ();", 1, 29, "expected '>', found ')'"),
        ("SELECT a FROM s WHERE;", 1, 22, "expected an expression, found ';'"),
        ("SELECT a FROM s;\nSELEC b FROM s;", 2, 1, "expected a statement, found 'SELEC'"),
        ("INSERT INTO s (a) VALUES (1, 2);", 1, 19, "1 columns are named and 2 values given"),
        ("CREATE STREAM", 1, 14, "expected the name of the stream, found the end of the statement"),
        ("SELECT a FROM s LIMIT many;", 1, 23, "expected the number of rows, found 'MANY'"),
        ("SELECT \x00 FROM s;", 1, 8, "unexpected character '\\x00'"),
    ],
)
def test_the_place_is_told(text: str, line: int, column: int, message: str) -> None:
    wrong = refused(text)
    assert (wrong.at.line, wrong.at.column) == (line, column)
    assert message in str(wrong)
    assert str(wrong).split("\n")[2].endswith("^")


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("(", ")"),
        ("- ", ""),
        ("NOT ", ""),
        ("f(", ")"),
        ("ARRAY[", "]"),
        ("CASE WHEN a THEN ", " END"),
        ("f(x => ", ")"),
    ],
)
def test_ten_thousand_levels(opening: str, closing: str) -> None:
    inner = f"f({opening * 10_000}a{closing * 10_000})"
    assert "nested more than 100 levels deep" in str(refused(f"SELECT {inner} FROM s;"))


def test_ten_thousand_levels_of_a_type() -> None:
    kind = "ARRAY<" * 10_000 + "INT" + ">" * 10_000
    assert "nested more than 100 levels deep" in str(refused(f"CREATE STREAM s (a {kind}) WITH ();"))


def test_operators_in_a_long_row() -> None:
    assert "more than 100 operators in a row" in str(refused(f"SELECT {'a + ' * 10_000}a FROM s;"))


def test_steps_into_a_value() -> None:
    assert "more than 100 steps into a value" in str(refused(f"SELECT a{'->b' * 10_000} FROM s;"))


def test_a_long_chain_of_conditions_is_no_deep_tree() -> None:
    assert len(parse(f"SELECT a FROM s WHERE {'a = 1 OR ' * 1_000}a = 2;")) == 1


def test_a_thousand_statements_and_a_wrong_one() -> None:
    one = "CREATE STREAM s (id INT KEY, name STRING) WITH (kafka_topic='s', value_format='JSON');\n"
    text = one * 1_000 + "SELECT;"
    wrong = refused(text)
    assert wrong.at.line == text.count("\n") + 1


def test_a_megabyte_in_one_line_is_shown_around_the_place() -> None:
    wrong = refused(f"SELECT '{'x' * 1_000_000}' FROM FROM;")
    assert max(map(len, str(wrong).split("\n"))) < 200


def test_more_than_the_limit() -> None:
    assert "the limit is" in str(refused(" " * (TEXT_CHARACTERS_MAX + 1)))


def test_a_megabyte_of_a_string_is_a_string() -> None:
    assert len(parse(f"SELECT '{'x' * 1_000_000}' AS a FROM s;")) == 1
