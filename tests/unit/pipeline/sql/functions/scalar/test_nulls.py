"""Types of what stands in for a null."""

from decimal import Decimal

import pytest
from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.syntax.errors import SqlError


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("COALESCE(NULL, 1, 3000000000)", "BIGINT", 1),
        ("COALESCE(NULL, 1, 2.5)", "DECIMAL(11, 1)", Decimal(1)),
        ("COALESCE(CAST(NULL AS ARRAY<STRING>), ARRAY['a'])", "ARRAY<STRING>", ["a"]),
        ("IFNULL('', 'x')", "STRING", ""),
        ("IFNULL(CAST(NULL AS STRING), CAST(NULL AS STRING))", "STRING", None),
        ("NULLIF(NULL, 1)", "INTEGER", None),
        ("NULLIF(1, 2.0)", "DECIMAL(11, 1)", Decimal(1)),
        ("NULLIF(ARRAY[1, 2], ARRAY[1, 2])", "ARRAY<INTEGER>", None),
        ("AS_VALUE(STRUCT(A := 1))", "STRUCT<A INTEGER>", {"A": 1}),
    ],
)
def test_values(text: str, kind: str, value: object) -> None:
    found_kind, found = evaluated(text)
    assert (str(found_kind), found) == (kind, value)


@pytest.mark.parametrize("text", ["COALESCE(NULL, NULL)", "COALESCE(1, 'a')", "IFNULL(1)", "COALESCE()"])
def test_what_has_no_type_is_refused(text: str) -> None:
    with pytest.raises(SqlError):
        value_of(text)
