"""The statements of a request, cut and filled with variables."""

import pytest

from moldau.pipeline.sql.engine import Session
from moldau.pipeline.sql.server.statement_texts import parsed, single, statement_texts
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.statements import Show


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SHOW STREAMS; SHOW TABLES;", ["SHOW STREAMS;", "SHOW TABLES;"]),
        ("SHOW STREAMS", ["SHOW STREAMS"]),
        ("-- nothing\n;;", []),
        (
            "DEFINE n = 'a;b'; DROP STREAM ${n}; -- ;\nSHOW TYPES",
            ["DEFINE n = 'a;b';", "DROP STREAM ${n};", "SHOW TYPES"],
        ),
    ],
)
def test_a_text_is_cut_at_its_semicolons(text: str, expected: list[str]) -> None:
    assert [one.strip() for one in statement_texts(text)] == expected


def test_variables_are_those_of_the_session() -> None:
    one = parsed("DROP STREAM ${name};", Session(variables={"name": "orders"}))
    assert one.text == "DROP STREAM orders;"


def test_an_error_knows_the_text_after_the_substitution() -> None:
    with pytest.raises(SqlError) as wrong:
        parsed("DROP STREAM ${name} AND MORE;", Session(variables={"name": "orders"}))
    assert "DROP STREAM orders AND MORE;" in str(wrong.value)


def test_a_query_route_takes_one_statement() -> None:
    assert isinstance(single("SHOW STREAMS;", Session()).statement, Show)
    with pytest.raises(SqlError, match="the text has 2"):
        single("SHOW STREAMS; SHOW TABLES;", Session())
    with pytest.raises(SqlError, match="the text has none"):
        single("  ", Session())
