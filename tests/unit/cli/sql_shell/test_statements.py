"""Text cut into statements, and the statements the shell runs itself."""

import pytest

from moldau.cli.sql_shell.statements import Kind, changes_names, classify, split, statements_of


@pytest.mark.parametrize(
    ("text", "complete", "rest"),
    [
        ("SHOW STREAMS;", ["SHOW STREAMS;"], ""),
        ("A; B;\n C", ["A;", "B;"], "C"),
        ("SELECT ';' FROM s;", ["SELECT ';' FROM s;"], ""),
        ("SELECT 'it''s;' FROM s", [], "SELECT 'it''s;' FROM s"),
        ("SELECT `a;b` FROM s;", ["SELECT `a;b` FROM s;"], ""),
        ("-- only; a comment\n", [], ""),
        ("-- first\nA; -- then\nB;", ["A;", "B;"], ""),
        ("SELECT /* ; */ 1;", ["SELECT /* ; */ 1;"], ""),
        ("A; SELECT 'open; B;", ["A;"], "SELECT 'open; B;"),
        ("SELECT a - b, a / b FROM s;", ["SELECT a - b, a / b FROM s;"], ""),
        (";;  ;", [], ""),
    ],
)
def test_split(text: str, complete: list[str], rest: str) -> None:
    found = split(text)
    assert (found.complete, found.rest.strip()) == (complete, rest)


def test_each_statement_has_its_line() -> None:
    text = "-- A;\nA;\n\n/* two\nlines */ B\n  FROM b; C"
    assert list(statements_of(text)) == [("A;", 2), ("B\n  FROM b;", 5), ("C;", 6)]
    assert list(statements_of("A; SELECT 'open")) == [("A;", 1), ("SELECT 'open", 1)]


@pytest.mark.parametrize(
    ("statement", "kind", "words"),
    [
        ("select * from s;", Kind.QUERY, ()),
        ("-- why\nSELECT 1;", Kind.QUERY, ()),
        ("PRINT 't' FROM BEGINNING;", Kind.PRINT, ()),
        ("set 'a.b' = 'it''s';", Kind.SET, ("a.b", "it's")),
        ("UNSET 'a';", Kind.UNSET, ("a",)),
        ("UNSET ALL;", Kind.UNSET, ("",)),
        ("DEFINE x = '1';", Kind.DEFINE, ("x", "1")),
        ("undefine x;", Kind.UNDEFINE, ("x",)),
        ("RUN SCRIPT 'a b.sql';", Kind.RUN_SCRIPT, ("a b.sql",)),
        ("CREATE STREAM s AS SELECT * FROM t;", Kind.OTHER, ()),
        ("SET broken;", Kind.OTHER, ()),
    ],
)
def test_classify(statement: str, kind: Kind, words: tuple[str, ...]) -> None:
    assert classify(statement) == (kind, words)


def test_what_changes_names() -> None:
    assert changes_names("/* new */ create stream s (a INT) WITH (KAFKA_TOPIC='s');")
    assert not changes_names("SHOW STREAMS;")
