"""The types and edges of the functions that round."""

from decimal import Decimal

import pytest
from scalar_examples import evaluated, value_of


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("ABS(-3)", "INTEGER", 3),
        ("ABS(-3000000000)", "BIGINT", 3000000000),
        ("ABS(-2147483648)", "INTEGER", -(2**31)),
        ("ABS(-1.20)", "DECIMAL(3, 2)", Decimal("1.20")),
        ("SIGN(-0.01)", "INTEGER", -1),
        ("CEIL(-1.23)", "DECIMAL(3, 2)", Decimal("-1.00")),
        ("FLOOR(-1.23)", "DECIMAL(3, 2)", Decimal("-2.00")),
        ("CEIL(-0.5E0)", "DOUBLE", 0.0),
        ("ROUND(7)", "BIGINT", 7),
        ("ROUND(2.5E0)", "BIGINT", 3),
        ("ROUND(-2.5E0)", "BIGINT", -2),
        ("ROUND(0.49999999999999994E0)", "BIGINT", 0),
        ("ROUND(1E300)", "BIGINT", 2**63 - 1),
        ("ROUND(2.5)", "DECIMAL(1, 0)", Decimal(3)),
        ("ROUND(0.25)", "DECIMAL(1, 0)", Decimal(0)),
        ("ROUND(-12.35, 1)", "DECIMAL(4, 2)", Decimal("-12.30")),
        ("ROUND(12.35, 5)", "DECIMAL(4, 2)", Decimal("12.35")),
        ("ROUND(1.005E0, 2)", "DOUBLE", 1.01),
        ("ROUND(149, -2)", "DOUBLE", 100.0),
        ("TRUNC(-1.999)", "DECIMAL(1, 0)", Decimal(-1)),
        ("TRUNC(-2.5E0)", "BIGINT", -2),
        ("TRUNC(1.999E0, 1)", "DOUBLE", 1.9),
    ],
)
def test_the_type_and_value(text: str, kind: str, value: object) -> None:
    found_kind, found = evaluated(text)
    assert (str(found_kind), found, str(found)) == (kind, value, str(value))


@pytest.mark.parametrize("name", ["ABS", "SIGN", "CEIL", "FLOOR", "ROUND", "TRUNC"])
def test_null_stays_null(name: str) -> None:
    for kind in ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL(5, 2)"):
        assert value_of(f"{name}(CAST(NULL AS {kind}))") is None


@pytest.mark.parametrize("name", ["CEIL", "FLOOR"])
def test_numbers_without_an_end(name: str) -> None:
    assert value_of(f"{name}(POWER(10, 400))") == float("inf")
    assert str(value_of(f"{name}(SQRT(-1))")) == "nan"


def test_what_is_no_number_becomes_a_whole_one_as_in_java() -> None:
    assert value_of("ROUND(SQRT(-1))") == 0
    assert value_of("TRUNC(POWER(10, 400))") == 2**63 - 1
    assert value_of("ROUND(-1 * POWER(10, 400))") == -(2**63)
    assert str(value_of("ROUND(SQRT(-1), 2)")) == "nan"
