"""The rows of a table in memory."""

import json
import struct
from typing import Any

import pytest
from query_catalog import query_catalog

from moldau.pipeline.sql.queries.prepared import PullSettings
from moldau.pipeline.sql.queries.preparing import parsed_query, prepared
from moldau.pipeline.sql.queries.pull import answer_rows
from moldau.pipeline.sql.queries.table_content import TableContent

CATALOG = query_catalog()
MINUTE = 60_000


def asked(content: TableContent, text: str) -> list[tuple[Any, ...]]:
    lookup = prepared(parsed_query(text), CATALOG, PullSettings()).lookup
    assert lookup is not None
    return list(answer_rows(content, lookup))


def windowed(key: str, *times: int) -> bytes:
    return key.encode() + struct.pack(f">{len(times)}q", *times)


@pytest.fixture
def minutes() -> TableContent:
    content = TableContent(CATALOG.sources["PER_MINUTE"], 10 * MINUTE)
    content.load(
        (windowed(key, n * MINUTE), json.dumps({"N": n}).encode(), n * MINUTE + 5)
        for n in range(20)
        for key in ("a", "b")
    )
    return content


def test_windows_of_a_key_within_the_retention(minutes: TableContent) -> None:
    rows = asked(minutes, "SELECT * FROM PER_MINUTE WHERE ID = 'a'")
    assert rows == [("a", n * MINUTE, (n + 1) * MINUTE, n) for n in range(10, 20)]
    assert len(minutes) < 40


def test_bounds_of_windows(minutes: TableContent) -> None:
    query = f"SELECT N, ROWTIME FROM PER_MINUTE WHERE ID = 'a' AND WINDOWSTART >= {18 * MINUTE}"
    assert asked(minutes, query) == [(18, 18 * MINUTE + 5), (19, 19 * MINUTE + 5)]
    query = f"SELECT N FROM PER_MINUTE WHERE ID = 'b' AND WINDOWEND = {15 * MINUTE}"
    assert asked(minutes, query) == [(14,)]
    query = f"SELECT ID, N FROM PER_MINUTE WHERE WINDOWSTART = {15 * MINUTE}"
    assert asked(minutes, query) == [("a", 15), ("b", 15)]


def test_sessions() -> None:
    content = TableContent(CATALOG.sources["VISITS"])
    content.load(
        [
            (windowed("a", 200, 100), b'{"N": 1}', 200),
            (windowed("a", 200, 100), None, 300),
            (windowed("a", 300, 100), b'{"N": 2}', 300),
            (windowed("b", 900, 800), b'{"N": 9}', 900),
        ]
    )
    assert asked(content, "SELECT * FROM VISITS WHERE ID = 'a'") == [("a", 100, 300, 2)]
    assert asked(content, "SELECT ID FROM VISITS WHERE WINDOWEND > 500") == [("b",)]


def test_keys_are_found_however_they_are_spelt() -> None:
    content = TableContent(CATALOG.sources["PAIRS"])
    content.load([(b'{"b": "x",   "a": 1}', b'{"C": 2.5}', 0)])
    assert asked(content, "SELECT C FROM PAIRS WHERE A = 1 AND B = 'x'") == [(2.5,)]


def test_what_cannot_be_read_is_told_and_left_out() -> None:
    told: list[str] = []
    content = TableContent(
        CATALOG.sources["PAIRS"], on_failure=lambda text, failure, row: told.append(f"{text}: {failure}")
    )
    content.load([(b"no json", b"{}", 0), (b'{"A": 1, "B": "x"}', b"no json", 0), (None, b"{}", 0)])
    assert asked(content, "SELECT * FROM PAIRS") == []
    assert len(told) == 2 and "pairs" in told[0]


def test_removed_rows_are_gone() -> None:
    content = TableContent(CATALOG.sources["USERS"])
    content.load((f"u{n}".encode(), b'{"NAME": "x"}', n) for n in range(1000))
    assert (len(content), content.bytes_held > 10_000) == (1000, True)
    content.load((f"u{n}".encode(), None, n) for n in range(1000))
    assert (len(content), content.bytes_held) == (0, 0)


def test_the_time_of_a_row_may_be_in_a_column() -> None:
    catalog = query_catalog(
        "CREATE TABLE ORDERS (ID STRING PRIMARY KEY, AT BIGINT) "
        "WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON', TIMESTAMP='AT');"
    )
    content = TableContent(catalog.sources["ORDERS"])
    content.load([(b"a", b'{"AT": 77}', 5), (b"b", b"{}", 6)])
    lookup = prepared(parsed_query("SELECT ID, ROWTIME FROM ORDERS"), catalog, PullSettings()).lookup
    assert lookup is not None
    assert sorted(answer_rows(content, lookup)) == [("a", 77), ("b", 6)]
