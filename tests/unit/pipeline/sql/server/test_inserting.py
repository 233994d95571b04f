"""Rows in JSON as records."""

from dataclasses import replace

import pytest

from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.engine import Catalog
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.server.inserting import record_of, target_of
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import BIGINT, STRING, Column, Decimal, Schema

ORDERS = SourceInfo(
    "ORDERS",
    Kind.STREAM,
    Schema((Column("ID", STRING),), (Column("AMOUNT", Decimal(6, 2)), Column("mixed", BIGINT))),
    "orders",
    Format("KAFKA"),
    Format("JSON"),
)


def test_columns_are_found_in_any_case_and_have_their_types() -> None:
    row = record_of(ORDERS, {"id": "a", "Amount": "1.5", "`mixed`": 3}, 77, {})
    assert (row.key, row.timestamp_ms) == (("a",), 77)
    assert row.value is not None
    assert [str(value) for value in row.value] == ["1.50", "3"]


def test_rowtime_is_the_records_time() -> None:
    row = record_of(ORDERS, {"ROWTIME": 5}, 77, {})
    assert (row.key, row.value, row.timestamp_ms) == (None, (None, None), 5)


@pytest.mark.parametrize(
    ("row", "message"),
    [({"AMOUN": 1}, "no column AMOUN"), ({"amount": "x"}, "column AMOUNT"), ({"ROWOFFSET": 1}, "ROWOFFSET")],
)
def test_what_does_not_fit_is_refused(row: dict[str, object], message: str) -> None:
    with pytest.raises(SqlError, match=message):
        record_of(ORDERS, row, 0, {})


def test_rows_of_the_platforms_own_topics_are_refused() -> None:
    roles = replace(ORDERS, topic="_moldau_roles")
    with pytest.raises(SqlError, match="setting ksql"):
        record_of(roles, {"id": "a"}, 0, {})
    with pytest.raises(SqlError, match="is internal: no statement writes"):
        record_of(roles, {"id": "a"}, 0, {"ksql.hidden.topics": "", "ksql.readonly.topics": ""})


def test_a_target_is_found_by_its_name() -> None:
    catalog = Catalog(builtin())
    with pytest.raises(SqlError, match="there is no stream or table ORDERS"):
        target_of(catalog, "orders")
