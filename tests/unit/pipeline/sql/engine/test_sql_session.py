"""Variables in the text of statements."""

import pytest

from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse


def substituted(text: str, **variables: str) -> str:
    session = Session()
    for name, value in variables.items():
        session = session.with_variable(name, value)
    return session.substituted(text)


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        ("SELECT * FROM ${s};", {"s": "orders"}, "SELECT * FROM orders;"),
        ("SELECT * FROM ${S};", {"s": "orders"}, "SELECT * FROM orders;"),
        ("a=${n}", {"n": "3"}, "a=3"),
        ("a=${n}", {"n": "1.5"}, "a=1.5"),
        ("a -${n}", {"n": "-3"}, "a - -3"),
        ("a=${t}", {"t": "'text'"}, "a='text'"),
        ("a=${t}", {"t": "`Quoted`"}, "a=`Quoted`"),
        ("a=${t}", {"t": "TRUE"}, "a=TRUE"),
        ("'${f}'", {"f": "JSON"}, "'JSON'"),
        ("'a_${f}_${f}'", {"f": "b"}, "'a_b_b'"),
        ("`${f}`", {"f": "b`c"}, "`b``c`"),
        ("'$${f}'", {"f": "JSON"}, "'${f}'"),
        ("'${unknown}'", {"f": "JSON"}, "'${unknown}'"),
        ("x = ${unknown}", {"f": "JSON"}, "x = ${unknown}"),
        ("-- ${f}\nx", {"f": "JSON"}, "-- ${f}\nx"),
        ("'${f}", {"f": "JSON"}, "'${f}"),
    ],
)
def test_values_take_the_place_of_references(text: str, variables: dict[str, str], expected: str) -> None:
    assert substituted(text, **variables) == expected


@pytest.mark.parametrize(
    "value",
    ["1 OR 1=1", "x; DROP STREAM orders", "FROM", "x -- more", "'a' 'b'", "'", "", "- -3", "5 /* c */"],
)
def test_a_value_is_one_name_or_one_constant(value: str) -> None:
    with pytest.raises(SqlError, match="neither a name nor a constant"):
        substituted("SELECT * FROM ${v}", v=value)


def test_a_value_cannot_end_the_string_it_stands_in() -> None:
    text = substituted("INSERT INTO s VALUES ('${v}');", v="x'); DROP STREAM s; --")
    assert len(parse(text)) == 1
    assert "'x''); DROP STREAM s; --'" in text


def test_the_error_points_at_the_reference() -> None:
    with pytest.raises(SqlError) as failure:
        substituted("SELECT *\nFROM ${v}", v="a b")
    assert failure.value.at == (2, 6)
    assert "DEFINE v = '''text'''" in str(failure.value)


def test_nothing_is_substituted_where_that_is_switched_off() -> None:
    session = Session(variables={"v": "x"}, substitutes=False)
    assert session.substituted("'${v}'") == "'${v}'"


def test_a_variable_is_the_same_in_any_case() -> None:
    session = Session().with_variable("Name", "1").with_variable("NAME", "2")
    assert dict(session.variables) == {"NAME": "2"}
    assert session.variable("name") == "2"
    assert not session.without_variable("name").variables


def test_the_name_of_a_variable_is_a_bare_name() -> None:
    with pytest.raises(SqlError, match="cannot be the name"):
        Session().with_variable("a-b", "1")


def test_a_reference_ends_before_the_next_one_begins() -> None:
    assert substituted("'${a ${v} b}'", v="x") == "'${a x b}'"


def test_a_megabyte_of_references_without_an_end() -> None:
    text = f"SELECT '{'${' * 500_000}' FROM s;"
    assert substituted(text, v="x") == text


def test_values_that_are_too_long_together() -> None:
    with pytest.raises(SqlError, match="more than 4,194,304 characters together") as refused:
        substituted(f"SELECT\n '{'${v}' * 100_000}';", v="x" * 1_000_000)
    assert refused.value.at == (2, 2)
    assert "Use v less often" in refused.value.hint
