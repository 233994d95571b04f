"""Text that is wrong, huge or hostile: a clear error with its place, soon, and never a crash."""

import time

import pytest

from moldau.pipeline.sql.syntax import tokens
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


@pytest.mark.parametrize(
    ("written", "message", "remedy"),
    [
        ("9" * 5_000, "is too large for a BIGINT", "as a DOUBLE"),
        ("9223372036854775809", "is too large for a BIGINT", "9223372036854775809.0"),
        ("9" * 38 + ".0", "has more than the 38 digits of a DECIMAL", "Write fewer digits"),
        ("0." + "1" * 39, "has more than the 38 digits of a DECIMAL", "Write fewer digits"),
        ("9" * 5_000 + ".5", "has more than the 38 digits of a DECIMAL", "Write fewer digits"),
    ],
)
def test_numbers_that_are_too_long(written: str, message: str, remedy: str) -> None:
    wrong = refused(f"SELECT id,\n  {written} AS n FROM s;")
    assert wrong.at == (2, 3)
    assert message in wrong.message
    assert remedy in wrong.hint
    assert len(str(wrong)) < 500


def test_the_longest_numbers() -> None:
    for written in (
        "9223372036854775807",
        "-9223372036854775808",
        "0" * 5_000 + "7",
        "9" * 37 + ".9",
        "0." + "1" * 38,
    ):
        assert len(parse(f"SELECT {written} AS n FROM s;")) == 1


def test_a_limit_that_is_too_long() -> None:
    assert "is too large for the number of rows" in str(refused(f"SELECT a FROM s LIMIT {'9' * 5_000};"))
    assert "is too large for the precision" in str(
        refused(f"SELECT CAST(a AS DECIMAL({'9' * 5_000}, 2)) FROM s;")
    )


@pytest.mark.parametrize(
    ("window", "written", "message"),
    [
        (
            "TUMBLING (SIZE 99999999999999999999 DAYS)",
            "9999999",
            "99999999999999999999 is too large for the SIZE of the TUMB",
        ),
        (
            "TUMBLING (SIZE 100000001 DAYS)",
            "100000001",
            "the SIZE of the TUMBLING window is 100000001 DAYS; it can be",
        ),
        (
            "HOPPING (SIZE 1 DAY, ADVANCE BY 999999999999 DAYS)",
            "999999",
            "the ADVANCE of the HOPPING window is 9999",
        ),
        (
            "TUMBLING (SIZE 1 DAY, GRACE PERIOD 999999999999 HOURS)",
            "999999",
            "the GRACE PERIOD of the TUMBLING window",
        ),
        ("SESSION (1 DAY, RETENTION 999999999999 DAYS)", "999999", "the RETENTION of the SESSION window"),
        ("SESSION (999999999999 DAYS)", "999999", "the gap of the SESSION window"),
    ],
)
def test_windows_without_sensible_bounds(window: str, written: str, message: str) -> None:
    wrong = refused(f"SELECT a FROM s WINDOW {window} GROUP BY a;")
    assert message in wrong.message
    assert wrong.at == (1, len("SELECT a FROM s WINDOW ") + window.index(written) + 1)
    assert wrong.hint


def test_a_join_without_sensible_bounds() -> None:
    wrong = refused("SELECT a FROM s JOIN t WITHIN 999999999999 DAYS ON s.a = t.a;")
    assert "the duration of WITHIN is 999999999999 DAYS" in wrong.message


@pytest.mark.parametrize(
    ("condition", "place"),
    [
        ("a = 1" + " OR a = 1" * 15_000, 10_000 * len(" OR a = 1")),
        ("a IN (" + ",".join("1" * 20_001) + ")", 2 * 20_000),
        ("f(" + ",".join("a" * 30_000) + ")", 2 * 20_000),
        ("x IS NULL AND ARRAY[" + ",".join("a" * 30_000) + "] = a", 2 * 20_000),
    ],
)
def test_more_parts_than_a_statement_may_have(condition: str, place: int) -> None:
    wrong = refused(f"SELECT a FROM s WHERE {condition};")
    assert "more than 20,000 operands, items and types in one statement" in wrong.message
    assert abs(wrong.at.column - place) < 100
    assert "table" in wrong.hint


def test_each_statement_has_parts_of_its_own() -> None:
    one = f"SELECT a FROM s WHERE a IN ({','.join('1' * 15_000)});"
    assert len(parse(one * 3)) == 3


@pytest.mark.parametrize("part", ["id=1 OR ", "1+"])
def test_a_megabyte_of_one_statement_is_refused_before_it_is_read(part: str) -> None:
    wrong = refused(f"SELECT {part * (1_000_000 // len(part))}a FROM s;")
    assert "the statement has more than 200,000 words, constants and symbols" in wrong.message
    assert wrong.hint


def test_more_tokens_than_a_text_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TEXT_TOKENS_MAX", 1_000)
    for text in (";" * 1_001, "a;" * 501):
        wrong = refused(text)
        assert "the text has more than 1,000 words, constants and symbols" in wrong.message
        assert "several requests" in wrong.hint


def test_more_joins_than_a_query_may_have() -> None:
    joins = " ".join(f"JOIN t{number} ON a = b" for number in range(101))
    assert len(parse(f"SELECT a FROM s {joins[: joins.rindex('JOIN')]};")) == 1
    wrong = refused(f"SELECT a FROM s {joins};")
    assert "more than 100 joins in one query" in wrong.message
    assert wrong.at == (1, len("SELECT a FROM s ") + joins.rindex("JOIN") + 1)


def test_many_properties_and_many_fields() -> None:
    properties = ", ".join(f"p{number} = 1" for number in range(19_000))
    assert len(parse(f"CREATE STREAM s (a INT) WITH ({properties});")) == 1
    fields = ", ".join(f"f{number} INT" for number in range(19_000))
    assert len(parse(f"CREATE STREAM s (a STRUCT<{fields}>) WITH (partitions = 1);")) == 1


def test_a_long_word_is_not_said_whole() -> None:
    assert len(str(refused("S" * 1_000_000))) < 500


def test_a_number_before_letters_is_not_cut() -> None:
    assert "a name cannot begin with a digit: 12AB" in str(refused("SELECT 12ab FROM s;"))


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("DELETE FROM t WHERE id = 1;", "there is no DELETE statement", "A record with a null value"),
        ("UPDATE t SET a = 1;", "there is no UPDATE statement", "INSERT INTO"),
    ],
)
def test_statements_of_other_databases(text: str, message: str, remedy: str) -> None:
    wrong = refused("SELECT a FROM s;\n" + text)
    assert (wrong.message, wrong.at) == (message, (2, 1))
    assert wrong.hint.startswith(remedy)
    assert "Did you mean" not in str(wrong)
