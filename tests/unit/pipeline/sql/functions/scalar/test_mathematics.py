"""The edges of functions of doubles, and the comparison of several values."""

import math
from decimal import Decimal

import pytest
from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.syntax.errors import SqlError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("EXP(1000)", math.inf),
        ("COSH(1000)", math.inf),
        ("SINH(-1000)", -math.inf),
        ("POWER(0, -1)", math.inf),
        ("POWER(-10, 401)", -math.inf),
        ("COT(0)", math.inf),
        ("CBRT(0.001)", pytest.approx(0.1)),
        ("LOG(10, 1000)", 3.0),
        ("LOG(3, 81)", pytest.approx(4.0)),
        ("LN(EXP(2))", 2.0),
        ("ATAN2(-1, 0)", pytest.approx(-math.pi / 2)),
        ("RADIANS(90.0)", pytest.approx(math.pi / 2)),
    ],
)
def test_values(text: str, value: float) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "ASIN(1.01)",
        "LN(-1)",
        "LOG(0, 5)",
        "LOG(-2, 5)",
        "SQRT(-0.1)",
        "SIN(POWER(10, 400))",
        "POWER(-8, 0.5)",
    ],
)
def test_outside_of_its_domain_a_function_is_not_a_number(text: str) -> None:
    assert math.isnan(value_of(text))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("GREATEST(1, 3000000000)", "BIGINT", 3000000000),
        ("GREATEST(1, 2.50, 2.5)", "DECIMAL(12, 2)", Decimal("2.50")),
        ("GREATEST(1, 0.5E0)", "DOUBLE", 1.0),
        ("LEAST('b', 'a', NULL)", "STRING", "a"),
        ("GREATEST(FROM_DAYS(1), FROM_DAYS(2))", "DATE", 2),
        ("GREATEST(1E0, SQRT(-1), 5E0)", "DOUBLE", pytest.approx(math.nan, nan_ok=True)),
        ("LEAST(1E0, SQRT(-1), 5E0)", "DOUBLE", 1.0),
    ],
)
def test_the_largest_and_the_smallest(text: str, kind: str, value: object) -> None:
    found_kind, found = evaluated(text)
    assert (str(found_kind), found) == (kind, value)


@pytest.mark.parametrize("text", ["GREATEST(ARRAY[1], ARRAY[2])", "LEAST(NULL, NULL)", "GREATEST(1, 'a')"])
def test_what_cannot_be_compared_is_refused(text: str) -> None:
    with pytest.raises(SqlError):
        value_of(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GEO_DISTANCE(91, 0, 0, 0)", "91.0 is no latitude"),
        ("GEO_DISTANCE(0, 0, 0, -181)", "-181.0 is no longitude"),
        ("GEO_DISTANCE(0, 0, 0, 0, 'leagues')", "'leagues' is no unit of distance"),
    ],
)
def test_a_distance_that_has_no_meaning(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value_of(text)


def test_half_around_the_earth() -> None:
    assert value_of("GEO_DISTANCE(90, 0, -90, 0)") == pytest.approx(math.pi * 6371)
    assert value_of("GEO_DISTANCE(0, 0, 0, 180, ' Miles ')") == pytest.approx(math.pi * 3959)
    assert value_of("GEO_DISTANCE(1.5, 2, 1.5, 2, '')") == 0.0
