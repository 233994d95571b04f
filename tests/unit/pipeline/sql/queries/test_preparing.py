"""What a SELECT becomes: its kind, its columns, the keys it asks for, and what is refused."""

from typing import Any

import pytest
from query_catalog import query_catalog

from moldau.pipeline.sql.engine import Catalog
from moldau.pipeline.sql.queries.prepared import Prepared, PullSettings, QueryKind
from moldau.pipeline.sql.queries.preparing import parsed_query, prepared
from moldau.pipeline.sql.syntax.errors import SqlError


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return query_catalog()


def made(catalog: Catalog, text: str, **settings: Any) -> Prepared:
    return prepared(parsed_query(text), catalog, PullSettings(**settings))


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("ID = 'a'", [("a",)]),
        ("'a' = ID", [("a",)]),
        ("ID = 'a' AND AGE > 3", [("a",)]),
        ("ID IN ('a', 'b', 'a')", [("a",), ("b",)]),
        ("ID = 'a' OR ID = 'b'", [("a",), ("b",)]),
        ("(ID = 'a' OR ID IN ('b', 'c')) AND AGE = 1", [("a",), ("b",), ("c",)]),
        ("ID = 'a' OR AGE = 1", None),
        ("ID > 'a'", None),
        ("ID LIKE 'a%'", None),
        ("NOT ID = 'a'", None),
        ("ID = NAME", None),
        ("AGE = 7", None),
    ],
)
def test_keys_of_a_condition(catalog: Catalog, where: str, keys: list[Any] | None) -> None:
    lookup = made(catalog, f"SELECT * FROM USERS WHERE {where};").lookup
    assert lookup is not None
    assert lookup.keys == (None if keys is None else tuple(keys))


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("A = 1 AND B = 'x'", [(1, "x")]),
        ("A IN (1, 2) AND B = 'x'", [(1, "x"), (2, "x")]),
        ("A = 1", None),
        ("(A = 1 AND B = 'x') OR (A = 2 AND B = 'y')", [(1, "x"), (2, "y")]),
        ("A = -1 AND B = 'x'", [(-1, "x")]),
        ("A = 1.5 AND B = 'x'", []),
        ("A = 2.0 AND B = 'x'", [(2, "x")]),
    ],
)
def test_keys_of_several_columns(catalog: Catalog, where: str, keys: list[Any] | None) -> None:
    lookup = made(catalog, f"SELECT * FROM PAIRS WHERE {where};").lookup
    assert lookup is not None
    assert lookup.keys == (None if keys is None else tuple(keys))


def test_kinds_and_columns(catalog: Catalog) -> None:
    assert made(catalog, "SELECT * FROM VIEWS EMIT CHANGES").kind is QueryKind.PUSH
    assert made(catalog, "SELECT * FROM VIEWS").kind is QueryKind.PULL_STREAM
    pull = made(catalog, "SELECT NAME, ID AS U, AGE + 1 FROM USERS WHERE ID = 'a'")
    assert pull.kind is QueryKind.PULL_TABLE
    assert [(one.name, str(one.type), one.is_key) for one in pull.columns] == [
        ("NAME", "STRING", False),
        ("U", "STRING", True),
        ("KSQL_COL_0", "INTEGER", False),
    ]


@pytest.mark.parametrize("emit", ["", " EMIT CHANGES"])
def test_all_columns_of_a_windowed_table_have_the_bounds(catalog: Catalog, emit: str) -> None:
    names = [one.name for one in made(catalog, f"SELECT * FROM PER_MINUTE{emit}").columns]
    assert names == ["ID", "WINDOWSTART", "WINDOWEND", "N"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT PAGE, COUNT(*) FROM VIEWS GROUP BY PAGE", "no GROUP BY"),
        ("SELECT * FROM VIEWS PARTITION BY PAGE", "no PARTITION BY"),
        ("SELECT * FROM VIEWS V JOIN USERS U ON V.USERID = U.ID", "no JOIN"),
        ("SELECT PAGE, COUNT(*) FROM VIEWS WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY PAGE", "no WINDOW"),
        ("SELECT ROWOFFSET FROM USERS", "no ROWOFFSET"),
        ("SELECT * FROM NOBODY", "NOBODY does not exist"),
        ("SELECT * FROM USERS WHERE NAMEE = 'a'", "Did you mean NAME"),
        ("DROP STREAM VIEWS;", "expected one SELECT"),
    ],
)
def test_what_is_refused(catalog: Catalog, text: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        made(catalog, text)


def test_scans_can_be_forbidden(catalog: Catalog) -> None:
    with pytest.raises(SqlError, match="scan the whole table USERS") as refused:
        made(catalog, "SELECT * FROM USERS WHERE AGE = 1", allows_scan=False)
    assert "ksql.query.pull.table.scan.enabled" in str(refused.value)
    assert made(catalog, "SELECT * FROM USERS WHERE ID = 'a'", allows_scan=False).lookup is not None
