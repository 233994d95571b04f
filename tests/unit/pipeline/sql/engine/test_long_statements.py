"""Statements with as many parts as are allowed are analysed soon: nothing takes time for each pair of parts."""

import time

import pytest
from shop_catalog import decided

from moldau.pipeline.sql.syntax.errors import SqlError

SECONDS_MAX = 20
"""Machines are slow; on an idle one each takes about a second."""


def explained(query: str) -> None:
    start = time.monotonic()
    decided(f"EXPLAIN {query} EMIT CHANGES;")
    assert time.monotonic() - start < SECONDS_MAX


def listed(count: int, text: str) -> str:
    return ", ".join(text.format(number) for number in range(count))


def test_a_struct_of_many_fields() -> None:
    explained(f"SELECT id, STRUCT({listed(19_000, 'f{0} := id')}) AS s FROM orders")


def test_a_key_of_many_columns() -> None:
    items, keys = listed(9_500, "'k{0}' AS k{0}"), listed(9_500, "'j{0}'")
    explained(f"SELECT {items} FROM orders PARTITION BY {keys}")


def test_each_key_column_is_found_where_it_is_selected_first() -> None:
    explained("SELECT region AS a, region AS b, amount AS c FROM orders PARTITION BY region")
    with pytest.raises(SqlError, match="the key is selected twice"):
        decided("CREATE STREAM t AS SELECT region AS a, region AS b FROM orders PARTITION BY region;")


def test_every_column_again_and_again() -> None:
    with pytest.raises(SqlError, match="two columns are called ID"):
        explained(f"SELECT {'*, ' * 50_000}id FROM orders")
