"""Edges of the functions of maps."""

import pytest
from scalar_examples import evaluated, value_of

NONE = "CAST(NULL AS MAP<STRING, INTEGER>)"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("AS_MAP(ARRAY['a', 'b', 'a'], ARRAY[1, 2])", {"a": None, "b": 2}),
        ("AS_MAP(ARRAY['a'], ARRAY[1, 2])", {"a": 1}),
        ("AS_MAP(ARRAY['a'], CAST(NULL AS ARRAY<INTEGER>))", None),
        ("ENTRIES(MAP('b' := 2, 'a' := 1), FALSE)", [{"K": "b", "V": 2}, {"K": "a", "V": 1}]),
        (f"ENTRIES({NONE}, TRUE)", None),
        (f"MAP_UNION({NONE}, MAP('a' := 1))", {"a": 1}),
        (f"MAP_UNION({NONE}, NULL)", None),
        ("MAP_VALUES(MAP('a' := NULL, 'b' := 1))", [None, 1]),
        (f"MAP_KEYS({NONE})", None),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


def test_types() -> None:
    assert str(evaluated("ENTRIES(MAP('a' := 1.5), TRUE)")[0]) == "ARRAY<STRUCT<K STRING, V DECIMAL(2, 1)>>"
    assert str(evaluated("MAP_UNION(MAP('a' := 1), MAP('b' := 3000000000))")[0]) == "MAP<STRING, BIGINT>"
    assert str(evaluated("ENTRIES(MAP('a' := 1), TRUE)[1]->V")[0]) == "INTEGER"
