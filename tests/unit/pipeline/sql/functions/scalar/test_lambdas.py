"""Lambdas: nulls, nesting, types and errors."""

import pytest
from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.syntax.errors import SqlError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TRANSFORM(CAST(NULL AS ARRAY<INTEGER>), x => x + 1)", None),
        ("TRANSFORM(ARRAY[1, NULL], x => x + 1)", [2, None]),
        ("TRANSFORM(ARRAY[ARRAY[1, 2], ARRAY[3]], x => TRANSFORM(x, y => y * 10))", [[10, 20], [30]]),
        ("TRANSFORM(ARRAY['a', 'b'], x => CONCAT(x, '!'))", ["a!", "b!"]),
        ("FILTER(ARRAY[1, NULL, 3], x => x > 2)", [3]),
        ("FILTER(MAP('a' := 1, 'b' := NULL), (k, v) => v IS NULL)", {"b": None}),
        ("REDUCE(ARRAY[1, 2], CAST(NULL AS INTEGER), (s, x) => s + x)", None),
        ("REDUCE(CAST(NULL AS ARRAY<INTEGER>), 7, (s, x) => s + x)", 7),
        ("REDUCE(CAST(NULL AS MAP<STRING, INTEGER>), 7, (s, k, v) => s + v)", 7),
        ("REDUCE(FILTER(ARRAY[1, 2, 3], x => x > 1), '', (s, x) => s + CAST(x AS STRING))", "23"),
        ("REDUCE(TRANSFORM(ARRAY[1, 2], x => x * 2), 0, (s, x) => GREATEST(s, x))", 4),
        ("TRANSFORM(MAP('a' := 1), (k, v) => k + 'x', (k, v) => ARRAY[v])", {"ax": [1]}),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("TRANSFORM(ARRAY[1], x => x + 1.5)", "ARRAY<DECIMAL(12, 1)>"),
        ("REDUCE(ARRAY[3000000000], 0, (s, x) => s + x)", "BIGINT"),
        ("TRANSFORM(MAP('a' := 1), (k, v) => LEN(k), (k, v) => k)", "MAP<INTEGER, STRING>"),
    ],
)
def test_types(text: str, kind: str) -> None:
    assert str(evaluated(text)[0]) == kind


@pytest.mark.parametrize(
    "text",
    [
        "TRANSFORM(ARRAY[1], (x, y) => x)",
        "FILTER(ARRAY[1], x => x + 1)",
        "REDUCE(ARRAY[1], 0, x => x)",
        "TRANSFORM(MAP('a' := 1), (k, v) => k)",
        "TRANSFORM(ARRAY[1], x => y)",
        "TRANSFORM('a', x => x)",
    ],
)
def test_wrong_lambdas_are_refused(text: str) -> None:
    with pytest.raises(SqlError):
        value_of(text)


def test_two_entries_with_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two entries of the map get the key 1"):
        value_of("TRANSFORM(MAP('a' := 1, 'b' := 2), (k, v) => LEN(k), (k, v) => v)")
