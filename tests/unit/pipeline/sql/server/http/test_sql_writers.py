"""The shapes in which rows are sent."""

import orjson
import pytest

from moldau.pipeline.sql.queries import End, EndReason, ResultColumn, Tombstone
from moldau.pipeline.sql.server.http.writers import (
    ArrayWriter,
    DelimitedWriter,
    Header,
    LegacyWriter,
    LinesWriter,
    ObjectsWriter,
    Writer,
)
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import BIGINT, STRING, Struct

COLUMNS = (ResultColumn("ID", BIGINT, is_key=True), ResultColumn("S", Struct([("A", STRING)])))
PUSH = Header("q1", COLUMNS, "PUSH")
PULL = Header("q1", COLUMNS, "PULL")
ROWS = [(1, {"A": "x"}), (2, None)]
COMPLETE = End(EndReason.COMPLETE)
LIMIT = End(EndReason.LIMIT)
FAILED = End(EndReason.FAILED, RuntimeError("broken"))


def body(writer: Writer, end: End = COMPLETE) -> str:
    return b"".join([writer.begin(), *writer.rows(ROWS), writer.finish(end)]).decode()


def test_delimited() -> None:
    header, *rows = body(DelimitedWriter(PUSH)).splitlines()
    assert orjson.loads(header) == {
        "queryId": "q1",
        "columnNames": ["ID", "S"],
        "columnTypes": ["BIGINT", "STRUCT<`A` STRING>"],
    }
    assert rows == ['[1,{"A":"x"}]', "[2,null]"]


def test_one_array() -> None:
    header, *rows = orjson.loads(body(ArrayWriter(PUSH), LIMIT))
    assert header["columnNames"] == ["ID", "S"]
    assert rows == [[1, {"A": "x"}], [2, None]]


def test_objects_of_a_push_query() -> None:
    text = body(ObjectsWriter(PUSH), LIMIT)
    assert text.splitlines() == [
        '[{"header":{"queryId":"q1","schema":"`ID` BIGINT, `S` STRUCT<`A` STRING>"}},',
        '{"row":{"columns":[1,{"A":"x"}]}},',
        '{"row":{"columns":[2,null]}},',
        '{"finalMessage":"Limit Reached"}]',
    ]
    assert orjson.loads(text)[-1] == {"finalMessage": "Limit Reached"}


def test_objects_of_a_pull_query_name_the_key_and_have_no_final_message() -> None:
    header, *rows = orjson.loads(body(ObjectsWriter(PULL)))
    assert header["header"]["schema"] == "`ID` BIGINT KEY, `S` STRUCT<`A` STRING>"
    assert len(rows) == 2


def test_every_piece_of_a_push_query_ends_its_line() -> None:
    writer = ObjectsWriter(PUSH)
    assert all(piece.endswith(b",\n") for piece in [writer.begin(), *writer.rows(ROWS)])
    assert writer.idle == b"\n"


def test_a_push_query_that_ends_by_itself() -> None:
    assert orjson.loads(body(ObjectsWriter(PUSH)))[-1] == {"finalMessage": "Query Completed"}


def test_deleted_rows_are_only_in_objects() -> None:
    deleted = [Tombstone((1, None))]
    assert b"".join(ObjectsWriter(PUSH).rows(deleted)) == (
        b'{"row":{"columns":[1,null],"tombstone":true}},\n'
    )
    assert list(DelimitedWriter(PUSH).rows(deleted)) == []
    assert list(ArrayWriter(PUSH).rows(deleted)) == []


def test_the_shape_of_ksql_5() -> None:
    first, _, last = body(LegacyWriter(PUSH), LIMIT).splitlines()
    assert orjson.loads(first) == {
        "row": {"columns": [1, {"A": "x"}]},
        "errorMessage": None,
        "finalMessage": None,
    }
    assert last == '{"row":null,"errorMessage":null,"finalMessage":"Limit Reached"}'


def test_lines_of_print() -> None:
    writer = LinesWriter(Header("", (ResultColumn("LINE", STRING),), "PRINT"))
    assert list(writer.rows([("rowtime: 1",)])) == [b"rowtime: 1\n"]
    assert writer.finish(COMPLETE) == b""


@pytest.mark.parametrize("kind", [ArrayWriter, ObjectsWriter])
def test_a_failure_is_the_last_thing_of_an_array(kind: type[Writer]) -> None:
    last = orjson.loads(body(kind(PULL), FAILED))[-1]
    error = last.get("errorMessage", last)
    assert error == {"@type": "generic_error", "error_code": 50000, "message": "broken"}


def test_a_failure_is_the_last_line() -> None:
    refused = End(EndReason.FAILED, SqlError("table is not ready"))
    error = orjson.loads(body(DelimitedWriter(PULL), refused).splitlines()[-1])
    assert (error["error_code"], error["message"]) == (40001, "table is not ready")
    legacy = orjson.loads(body(LegacyWriter(PULL), refused).splitlines()[-1])
    assert legacy["errorMessage"]["message"] == "table is not ready"
