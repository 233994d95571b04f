"""Edges of the functions of arrays."""

import pytest
from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.syntax.errors import SqlError

EMPTY = "FILTER(ARRAY[1], x => FALSE)"
NONE = "CAST(NULL AS ARRAY<INTEGER>)"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"ARRAY_CONCAT({NONE}, NULL)", None),
        (f"ARRAY_CONCAT({NONE}, ARRAY[1])", [1]),
        (f"ARRAY_CONTAINS({NONE}, 1)", False),
        ("ARRAY_CONTAINS(ARRAY[1, NULL], NULL)", True),
        ("ARRAY_CONTAINS(ARRAY[1, 2], 3000000000)", False),
        ("ARRAY_CONTAINS(ARRAY[ARRAY[1], ARRAY[2]], ARRAY[2])", True),
        ("ARRAY_DISTINCT(ARRAY[ARRAY[1], ARRAY[2], ARRAY[1]])", [[1], [2]]),
        ("ARRAY_DISTINCT(ARRAY[STRUCT(A := 1), STRUCT(A := 1)])", [{"A": 1}]),
        ("ARRAY_EXCEPT(ARRAY['a', NULL, 'b', NULL], ARRAY['b'])", ["a", None]),
        (f"ARRAY_EXCEPT(ARRAY[1], {NONE})", None),
        ("ARRAY_INTERSECT(ARRAY[1, NULL], ARRAY[NULL, 2])", [None]),
        ("ARRAY_UNION(ARRAY[MAP('a' := 1)], ARRAY[MAP('a' := 1)])", [{"a": 1}]),
        (f"ARRAY_JOIN({EMPTY})", ""),
        (f"ARRAY_JOIN({NONE}, '-')", None),
        ("ARRAY_JOIN(ARRAY['a', 'b'], NULL)", "ab"),
        ("ARRAY_JOIN(ARRAY[TRUE, FALSE])", "true,false"),
        ("ARRAY_JOIN(ARRAY[1.50, 2.00])", "1.50,2.00"),
        (f"ARRAY_LENGTH({EMPTY})", 0),
        (f"ARRAY_MAX({EMPTY})", None),
        ("ARRAY_MIN(ARRAY[CAST(NULL AS STRING)])", None),
        ("ARRAY_MAX(ARRAY[1E0, 2E0])", 2.0),
        ("ARRAY_REMOVE(ARRAY[1, NULL, 1], 1)", [None]),
        (f"ARRAY_REMOVE({NONE}, 1)", None),
        ("ARRAY_SORT(ARRAY['b', NULL, 'a'], 'descending')", ["b", "a", None]),
        ("ARRAY_SORT(ARRAY[TRUE, FALSE])", [False, True]),
        (f"SLICE({NONE}, 1, 2)", None),
        ("SLICE(ARRAY[1, 2, 3], NULL, 2)", [1, 2]),
        ("SLICE(ARRAY[1, 2, 3], 3, 3)", [3]),
        ("SLICE(ARRAY[1, 2, 3], 0, 2)", None),
        ("SLICE(ARRAY[1, 2, 3], 3, 1)", None),
        ("SLICE(ARRAY[1, 2, 3], 4, 3)", []),
        ("GENERATE_SERIES(2, 2)", [2]),
        ("GENERATE_SERIES(1, 6, 2)", [1, 3, 5]),
        ("GENERATE_SERIES(6, 1, -2)", [6, 4, 2]),
        ("GENERATE_SERIES(3000000000, 3000000001)", [3000000000, 3000000001]),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("GENERATE_SERIES(1, 3000000000, 1000000000)", "ARRAY<BIGINT>"),
        ("ARRAY_UNION(ARRAY[1], ARRAY[3000000000])", "ARRAY<BIGINT>"),
        ("ARRAY_MAX(ARRAY[1.50])", "DECIMAL(3, 2)"),
        ("ARRAY_SORT(ARRAY['a'])", "ARRAY<STRING>"),
        ("SLICE(ARRAY[STRUCT(A := 1)], 1, 1)", "ARRAY<STRUCT<A INTEGER>>"),
    ],
)
def test_types(text: str, kind: str) -> None:
    assert str(evaluated(text)[0]) == kind


@pytest.mark.parametrize(
    "text", ["ARRAY_MAX(ARRAY[ARRAY[1]])", "ARRAY_SORT(ARRAY[STRUCT(A := 1)])", "ARRAY_JOIN(ARRAY[ARRAY[1]])"]
)
def test_elements_without_order_or_text_are_refused(text: str) -> None:
    with pytest.raises(SqlError):
        value_of(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ARRAY_SORT(ARRAY[1], 'up')", "'up' is no direction"),
        ("GENERATE_SERIES(1, 5, 0)", "steps of 0 has no end"),
        ("GENERATE_SERIES(1, 5, -1)", "the sign is wrong"),
        ("GENERATE_SERIES(1, 2000000)", "has 2000000 elements"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value_of(text)
