"""Numbers as Java counts them: integers that wrap, division that truncates, decimals with a precision and scale."""

import decimal
import math
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Final

from moldau.pipeline.code.tree import Operation
from moldau.pipeline.sql.types import BIGINT, DECIMAL_PRECISION_MAX, DOUBLE, INTEGER, SqlType
from moldau.pipeline.sql.types import Decimal as DecimalType
from moldau.pipeline.sql.value_texts import decimal_text as decimal_text
from moldau.pipeline.sql.value_texts import double_text as double_text

EXACT: Final = decimal.Context(prec=2 * DECIMAL_PRECISION_MAX + 2, rounding=ROUND_HALF_UP)
"""Room for every intermediate result of two decimals."""

_BITS: Final = {INTEGER: 32, BIGINT: 64}


def wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def truncating_divide(left: int, right: int) -> int:
    if left >= 0 and right > 0:
        return left // right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def truncating_modulo(left: int, right: int) -> int:
    return left - right * truncating_divide(left, right)


@cache
def arithmetic_type(operator: str, left: SqlType, right: SqlType) -> SqlType:
    """The type of a result of numbers."""
    if DOUBLE in (left, right):
        return DOUBLE
    if isinstance(left, DecimalType) or isinstance(right, DecimalType):
        return _decimal_type(operator, _as_decimal(left), _as_decimal(right))
    return BIGINT if BIGINT in (left, right) else INTEGER


def _as_decimal(kind: SqlType) -> DecimalType:
    if isinstance(kind, DecimalType):
        return kind
    return DecimalType(10 if kind == INTEGER else 19, 0)


def _decimal_type(operator: str, left: DecimalType, right: DecimalType) -> DecimalType:
    before = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    match operator:
        case "+" | "-":
            precision = before + scale + 1
        case "*":
            precision, scale = left.precision + right.precision + 1, left.scale + right.scale
        case "/":
            scale = max(6, left.scale + right.precision + 1)
            precision = left.precision - left.scale + right.scale + scale
        case _:
            precision = min(left.precision - left.scale, right.precision - right.scale) + scale
    precision = min(precision, DECIMAL_PRECISION_MAX)
    return DecimalType(precision, min(scale, precision))


@cache
def arithmetic(operator: str, result: SqlType) -> Operation:
    """Of two numbers that have been brought to the type of the result, or are both exact for a decimal one."""
    if result == DOUBLE:
        return _of_doubles(operator)
    if isinstance(result, DecimalType):
        return _of_decimals(operator, result)
    bits = _BITS[result]
    if operator == "%":
        text = "({0} % {1} if {0} >= 0 and {1} > 0 else {f}({0}, {1}))"
        return Operation(operator, text, truncating_modulo, never_null=True)
    if operator == "/":
        return Operation(
            operator,
            function=lambda left, right: wrapped(truncating_divide(left, right), bits),
            never_null=True,
        )
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    text = f"(r if {low} <= (r := {{0}} {operator} {{1}}) <= {high} else (r + {high + 1}) % {1 << bits} - {high + 1})"
    return Operation(operator, text, never_null=True)


def _of_doubles(operator: str) -> Operation:
    match operator:
        case "/":
            return Operation(
                operator, "({0} / {1} if {1} else {f}({0}, {1}))", _divide_doubles, never_null=True
            )
        case "%":
            return Operation(operator, function=_modulo_doubles, never_null=True)
    return Operation(operator, f"{{0}} {operator} {{1}}", never_null=True)


def _divide_doubles(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1, right)
    return left / right


def _modulo_doubles(left: float, right: float) -> float:
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


def _of_decimals(operator: str, result: DecimalType) -> Operation:
    compute = {
        "+": EXACT.add,
        "-": EXACT.subtract,
        "*": EXACT.multiply,
        "/": EXACT.divide,
        "%": EXACT.remainder,
    }[operator]

    def of_decimals(left: Decimal | int, right: Decimal | int) -> Decimal:
        return fitted(compute(left, right), result.precision, result.scale)

    return Operation(operator, function=of_decimals, never_null=True)


def fitted(value: Decimal, precision: int, scale: int) -> Decimal:
    """Rounded half up to the scale; ValueError where it has more digits than the type."""
    if not value.is_finite():
        raise ValueError(f"{value} is no DECIMAL")
    found = value.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    if found.adjusted() >= precision - scale and found != 0:
        raise ValueError(f"{value} does not fit DECIMAL({precision}, {scale})")
    return found
