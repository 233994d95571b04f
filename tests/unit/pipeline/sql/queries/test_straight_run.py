"""Queries that only filter and project give the same rows without a task around them."""

import json

import pytest
from query_catalog import query_catalog

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.sql.queries.memory_run import MemoryRun
from moldau.pipeline.sql.queries.prepared import PullSettings
from moldau.pipeline.sql.queries.preparing import parsed_query, prepared
from moldau.pipeline.sql.queries.straight_run import StraightRun, run_of

CATALOG = query_catalog()
VALUES = [b'{"PAGE": "a", "MS": 1}', b"no json", b'{"MS": 0}', b'{"PAGE": "b", "MS": 7}']


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM VIEWS EMIT CHANGES",
        "SELECT MS, 10 / MS AS PART, USERID, ROWTIME FROM VIEWS WHERE MS < 5 EMIT CHANGES",
        "SELECT PAGE FROM VIEWS WHERE 1 / MS = 1 EMIT CHANGES",
    ],
)
def test_the_same_rows(text: str) -> None:
    plan = prepared(parsed_query(text), CATALOG, PullSettings()).plan
    columns = Columns("views", 0, [0, 1, 2, 3], [5, 6, 7, 8], [b"u", b"v", None, b"w"], VALUES)
    found = []
    for kind in (StraightRun, MemoryRun):
        told: set[str] = set()
        run = kind(plan, lambda what, failure, row, told=told: told.add(what))  # type: ignore[misc]
        found.append((run.take([columns]), told))
    assert found[0] == found[1]
    assert "the record of views-0 at offset 1" in found[0][1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT MS FROM VIEWS WHERE PAGE = 'a' EMIT CHANGES", StraightRun),
        ("SELECT ROWOFFSET FROM VIEWS EMIT CHANGES", MemoryRun),
        ("SELECT NAME FROM USERS EMIT CHANGES", MemoryRun),
        ("SELECT MS FROM VIEWS PARTITION BY MS EMIT CHANGES", MemoryRun),
        ("SELECT PAGE, COUNT(*) FROM VIEWS GROUP BY PAGE EMIT CHANGES", MemoryRun),
    ],
)
def test_what_runs_straight(text: str, kind: type) -> None:
    plan = prepared(parsed_query(text), CATALOG, PullSettings()).plan
    assert isinstance(run_of(plan, lambda *_: None), kind)


def test_a_record_without_a_value_is_no_row() -> None:
    plan = prepared(parsed_query("SELECT * FROM VIEWS EMIT CHANGES"), CATALOG, PullSettings()).plan
    columns = Columns("views", 0, [0, 1], [5, 6], [b"u", b"v"], [None, json.dumps({"MS": 1}).encode()])
    assert StraightRun(plan, lambda *_: None).take([columns]) == [("v", None, 1)]
