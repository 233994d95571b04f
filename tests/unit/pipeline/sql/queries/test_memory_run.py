"""Operators of push queries in memory: records in, rows out."""

import json
from typing import Any

import pytest
from query_catalog import query_catalog

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.sql.queries.memory_run import MemoryRun
from moldau.pipeline.sql.queries.prepared import PullSettings
from moldau.pipeline.sql.queries.preparing import parsed_query, prepared
from moldau.pipeline.sql.queries.row_stream import Tombstone

CATALOG = query_catalog()
MINUTE = 60_000


class Query:
    def __init__(self, text: str) -> None:
        self.told: list[str] = []
        plan = prepared(parsed_query(text), CATALOG, PullSettings()).plan
        self.run = MemoryRun(plan, lambda what, failure, row: self.told.append(f"{what}: {failure}"))
        self._offsets: dict[str, int] = {}

    def take(self, topic: str, *records: tuple[Any, Any, int], partition: int = 0) -> list[Any]:
        start = self._offsets.get(topic, 0)
        self._offsets[topic] = start + len(records)
        columns = Columns(
            topic,
            partition,
            list(range(start, start + len(records))),
            [at_ms for _, _, at_ms in records],
            [None if key is None else key.encode() for key, _, _ in records],
            [None if value is None else json.dumps(value).encode() for _, value, _ in records],
        )
        return self.run.take([columns])


def view(page: str, at_ms: int = 0, ms: int = 1) -> tuple[str, dict[str, Any], int]:
    return "u", {"PAGE": page, "MS": ms}, at_ms


def test_rows_of_a_stream() -> None:
    query = Query(
        "SELECT PAGE, MS, USERID, ROWTIME, ROWPARTITION, ROWOFFSET FROM VIEWS WHERE MS > 1 EMIT CHANGES"
    )
    rows = query.take("views", view("a", 5), view("b", 6, 2), partition=3)
    assert rows == [("b", 2, "u", 6, 3, 1)]
    assert not query.run.is_stateful


def test_a_deleted_row_of_a_table_is_a_tombstone() -> None:
    query = Query("SELECT NAME, ID FROM USERS EMIT CHANGES")
    assert query.take("users", ("u", {"NAME": "n"}, 0)) == [("n", "u")]
    [row] = query.take("users", ("u", None, 1))
    assert isinstance(row, Tombstone)
    assert row == (None, "u")


def test_windows() -> None:
    query = Query(
        "SELECT PAGE, WINDOWSTART, COUNT(*) FROM VIEWS WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY PAGE EMIT CHANGES"
    )
    assert query.take("views", view("a", 5)) == [("a", 0, 1)]
    assert query.take("views", view("a", 6)) == [("a", 0, 2)]
    assert query.take("views", view("a", MINUTE)) == [("a", MINUTE, 1)]


def test_windows_that_are_given_once() -> None:
    query = Query(
        "SELECT PAGE, COUNT(*) FROM VIEWS WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 0 SECONDS) "
        "GROUP BY PAGE EMIT FINAL"
    )
    assert query.take("views", view("a", 5)) == []
    assert query.take("views", view("a", 6)) == []
    assert query.take("views", view("b", 2 * MINUTE)) == [("a", 2)]


def test_a_join_by_another_column() -> None:
    query = Query("SELECT V.MS, U.NAME FROM VIEWS V LEFT JOIN USERS U ON V.PAGE = U.ID EMIT CHANGES")
    assert query.take("views", view("x", 1, 1)) == [(1, None)]
    assert query.take("users", ("x", {"NAME": "n"}, 2)) == []
    assert query.take("views", view("x", 3, 2), view("y", 4, 3)) == [(2, "n"), (3, None)]
    assert query.run.is_stateful


def test_two_streams_within_a_time() -> None:
    query = Query(
        "SELECT A.MS, B.MS FROM VIEWS A JOIN VIEWS B WITHIN 1 MINUTE ON A.USERID = B.USERID EMIT CHANGES"
    )
    assert query.take("views", view("x", 1, 1)) == [(1, 1)]


def test_another_key_and_several_rows_of_one() -> None:
    query = Query("SELECT PAGE, MS FROM VIEWS PARTITION BY PAGE EMIT CHANGES")
    assert query.take("views", view("a", 5, 7)) == [("a", 7)]
    query = Query("SELECT EXPLODE(ARRAY[MS, MS + 1]) AS ONE FROM VIEWS EMIT CHANGES")
    assert query.take("views", view("a", 5, 7)) == [(7,), (8,)]


def test_what_fails_is_told() -> None:
    query = Query("SELECT 1 / MS AS PART FROM VIEWS EMIT CHANGES")
    assert query.take("views", view("a", 0, 0), view("a", 0, 1)) == [(None,), (1,)]
    assert "PART" in query.told[0]


@pytest.mark.parametrize("value", [None, [], "text", 5])
def test_a_value_that_is_no_row_leaves_the_query_running(value: Any) -> None:
    query = Query("SELECT MS FROM VIEWS EMIT CHANGES")
    assert query.take("views", ("u", value, 0)) in ([], [(None,)])
    assert query.take("views", view("a", 0, 3)) == [(3,)]
