"""ABS, SIGN, CEIL, FLOOR, ROUND and TRUNC: functions of a number that keep to its type."""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Context
from decimal import Decimal as DecimalValue
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import AnyDecimal, Category, Form, Parameter, Scalar
from moldau.pipeline.sql.functions.scalar.ordering import first_type
from moldau.pipeline.sql.types import BIGINT, BIGINT_MAX, BIGINT_MIN, DOUBLE, INTEGER, Decimal, SqlType

_EXACT: Final = Context(prec=400)
"""Room for every DOUBLE written out."""

_DECIMAL: Final = AnyDecimal()
_PLACES: Final = Parameter("places", INTEGER, "how many digits to keep after the point; negative: before it")


def _value(kind: Any) -> Parameter:
    return Parameter("value", kind)


def _whole(types: Sequence[SqlType]) -> SqlType:
    """A decimal's type without the digits after the point."""
    kind = first_type(types)
    assert isinstance(kind, Decimal)
    return Decimal(max(1, kind.precision - kind.scale), 0)


def _same(value: Any) -> Any:
    return value


def _as_bigint(value: float) -> int:
    """As Java narrows a DOUBLE: NaN is 0, what is too large is the largest."""
    if math.isnan(value):
        return 0
    return int(max(BIGINT_MIN, min(BIGINT_MAX, value)))


def abs_integer(value: int) -> int:
    return value if value == -(2**31) else abs(value)


def abs_bigint(value: int) -> int:
    return value if value == BIGINT_MIN else abs(value)


def sign(value: Any) -> int:
    return int(value > 0) - int(value < 0)


def ceil_double(value: float) -> float:
    return float(math.ceil(value)) if math.isfinite(value) else value


def floor_double(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) else value


def ceil_decimal(value: DecimalValue) -> DecimalValue:
    return _rounded(value, 0, ROUND_CEILING)


def floor_decimal(value: DecimalValue) -> DecimalValue:
    return _rounded(value, 0, ROUND_FLOOR)


def round_double(value: float) -> int:
    """To the nearest whole number; halfway between two, the larger one: -1.5 is -1."""
    return (
        _as_bigint(math.floor(value) + (value - math.floor(value) >= 0.5))
        if math.isfinite(value)
        else _as_bigint(value)
    )


def round_double_to(value: float, places: int) -> float:
    return float(round_decimal_to(DecimalValue(repr(value)), places)) if math.isfinite(value) else value


def round_decimal(value: DecimalValue) -> DecimalValue:
    return value.quantize(DecimalValue(1), _half(value), _EXACT)


def round_decimal_to(value: DecimalValue, places: int) -> DecimalValue:
    return _rounded(value, places, _half(value))


def trunc_double_to(value: float, places: int) -> float:
    return float(trunc_decimal_to(DecimalValue(repr(value)), places)) if math.isfinite(value) else value


def trunc_decimal(value: DecimalValue) -> DecimalValue:
    return value.quantize(DecimalValue(1), ROUND_DOWN, _EXACT)


def trunc_decimal_to(value: DecimalValue, places: int) -> DecimalValue:
    return _rounded(value, places, ROUND_DOWN)


def _half(value: DecimalValue) -> str:
    return ROUND_HALF_UP if value > 0 else ROUND_HALF_DOWN


def _rounded(value: DecimalValue, places: int, how: str) -> DecimalValue:
    """Rounded, and written with as many digits after the point as before: the scale belongs to the type."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent <= places:
        return value
    rounded = value.quantize(DecimalValue(1).scaleb(-max(places, -400)), how, _EXACT)
    return rounded.quantize(DecimalValue(1).scaleb(exponent), context=_EXACT)


def _of_each(
    integer: Callable[..., Any],
    bigint: Callable[..., Any],
    double: Callable[..., Any],
    decimal: Callable[..., Any],
) -> tuple[Form, ...]:
    """A form for each kind of number, whose result has the type of the argument."""
    return (
        Form((_value(INTEGER),), INTEGER, meaning=integer),
        Form((_value(BIGINT),), BIGINT, meaning=bigint),
        Form((_value(DOUBLE),), DOUBLE, meaning=double),
        Form((_value(_DECIMAL),), first_type, meaning=decimal),
    )


def _to_places(
    whole: Callable[..., Any],
    double: Callable[..., Any],
    double_to: Callable[..., Any],
    decimal: Callable[..., Any],
    decimal_to: Callable[..., Any],
) -> tuple[Form, ...]:
    """The forms of ROUND and TRUNC: whole numbers without places, and numbers of the argument's type with them."""
    return (
        Form((_value(INTEGER),), BIGINT, meaning=whole),
        Form((_value(BIGINT),), BIGINT, meaning=whole),
        Form((_value(DOUBLE),), BIGINT, meaning=double),
        Form((_value(DOUBLE), _PLACES), DOUBLE, meaning=double_to),
        Form((_value(_DECIMAL),), _whole, meaning=decimal),
        Form(
            (_value(_DECIMAL), _PLACES),
            first_type,
            meaning=decimal_to,
            doc="The result keeps the scale of the value.",
        ),
    )


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "ABS",
        Category.MATHEMATICAL,
        "The number without its sign.",
        _of_each(abs_integer, abs_bigint, abs, abs),
        examples=(
            "ABS(-3) => 3",
            "ABS(-2.50) => 2.50",
            "ABS(-1.5E0) => 1.5",
            "ABS(-9223372036854775808) => -9223372036854775808",
        ),
    ),
    Scalar(
        "SIGN",
        Category.MATHEMATICAL,
        "-1 for a negative number, 0 for zero, 1 for a positive number.",
        (
            Form((_value(INTEGER),), INTEGER),
            Form((_value(BIGINT),), INTEGER),
            Form((_value(DOUBLE),), INTEGER),
            Form((_value(_DECIMAL),), INTEGER),
        ),
        sign,
        examples=(
            "SIGN(-7) => -1",
            "SIGN(0.00) => 0",
            "SIGN(2.5E0) => 1",
            "SIGN(CAST(NULL AS INTEGER)) => NULL",
        ),
    ),
    Scalar(
        "CEIL",
        Category.MATHEMATICAL,
        "The smallest whole number that is not less than the value, in the type of the value.",
        _of_each(_same, _same, ceil_double, ceil_decimal),
        examples=("CEIL(5) => 5", "CEIL(1.2E0) => 2.0", "CEIL(-1.2E0) => -1.0", "CEIL(1.23) => 2.00"),
    ),
    Scalar(
        "FLOOR",
        Category.MATHEMATICAL,
        "The largest whole number that is not greater than the value, in the type of the value.",
        _of_each(_same, _same, floor_double, floor_decimal),
        examples=("FLOOR(5) => 5", "FLOOR(1.8E0) => 1.0", "FLOOR(-1.2E0) => -2.0", "FLOOR(1.23) => 1.00"),
    ),
    Scalar(
        "ROUND",
        Category.MATHEMATICAL,
        "Rounds to a whole number or to a number of places. Halfway between two numbers it takes the larger one.",
        _to_places(_same, round_double, round_double_to, round_decimal, round_decimal_to),
        examples=(
            "ROUND(1.5E0) => 2",
            "ROUND(-1.5E0) => -1",
            "ROUND(2.345E0, 2) => 2.35",
            "ROUND(1234.5E0, -2) => 1200.0",
            "ROUND(1.5) => 2",
            "ROUND(-1.50) => -1",
            "ROUND(12.345, 1) => 12.300",
            "ROUND(7) => 7",
        ),
    ),
    Scalar(
        "TRUNC",
        Category.MATHEMATICAL,
        "Cuts off the digits after a whole number, or after a number of places.",
        _to_places(_same, _as_bigint, trunc_double_to, trunc_decimal, trunc_decimal_to),
        examples=(
            "TRUNC(1.9E0) => 1",
            "TRUNC(-1.9E0) => -1",
            "TRUNC(2.349E0, 2) => 2.34",
            "TRUNC(12.345, 1) => 12.300",
            "TRUNC(1299.5E0, -2) => 1200.0",
        ),
    ),
)
