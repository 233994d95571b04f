"""Columns filled from the headers of records, and the place of a record."""

from typing import Any

from moldau.pipeline.operators.records import Headers
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.cases.local_run import LocalRun
from moldau.pipeline.sql.definitions import Format, HeaderColumn, SourceInfo
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import CreateAsSelect, Kind
from moldau.pipeline.sql.translation.query import topology_of
from moldau.pipeline.sql.types import BYTES, INTEGER, STRING, Array, Column, Schema, Struct

HEADERS = Array(Struct([("KEY", STRING), ("VALUE", BYTES)]))
SOURCE = SourceInfo(
    "S",
    Kind.STREAM,
    Schema((Column("ID", STRING),), (Column("V", INTEGER), Column("TRACE", BYTES), Column("HS", HEADERS))),
    "s",
    Format("KAFKA"),
    Format("JSON"),
    headers=(HeaderColumn("TRACE", "trace"), HeaderColumn("HS")),
)


def written(select: str, headers: Headers, *, offset: int = 0) -> Any:
    statement = parse(f"CREATE STREAM r AS {select};")[0].statement
    assert isinstance(statement, CreateAsSelect)
    plan = analyse(statement.query, {"S": SOURCE}, builtin(), is_persistent=True)
    target = SourceInfo("R", Kind.STREAM, plan.schema, "R", Format("KAFKA"), Format("JSON"))
    run = LocalRun(topology_of(plan, target, "r"))
    (record,) = run.take("s", offset, b"k", b'{"V": 5}', 0, headers)
    return record.value


def test_the_last_header_of_a_name_counts() -> None:
    headers = (("trace", b"a"), ("other", b"x"), ("trace", b"b"))
    assert written("SELECT id, v, FROM_BYTES(trace, 'utf8') AS t FROM s", headers) == b'{"V":5,"T":"b"}'


def test_a_header_that_is_missing_is_null() -> None:
    assert written("SELECT id, trace FROM s", ()) == b'{"TRACE":null}'


def test_all_headers_in_their_order() -> None:
    found = written("SELECT id, hs FROM s", (("a", b"1"), ("b", None)))
    assert found == b'{"HS":[{"KEY":"a","VALUE":"MQ=="},{"KEY":"b","VALUE":null}]}'


def test_the_place_of_a_record() -> None:
    assert written("SELECT id, ROWPARTITION AS p, ROWOFFSET AS o FROM s", (), offset=7) == b'{"P":0,"O":7}'
