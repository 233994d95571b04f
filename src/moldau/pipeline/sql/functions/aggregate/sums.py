"""SUM, SUM_LIST and AVG.

Integer sums wrap around at the size of their type, as Java's do. A decimal sum that has more digits than its type
fails the record.
"""

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context
from decimal import Decimal as DecimalValue
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    AnyDecimal,
    Category,
    Folding,
    Parameter,
)
from moldau.pipeline.sql.types import BIGINT, DOUBLE, INTEGER, Array, Decimal, SqlType

Fold = Callable[[Any, Any], Any]

_EXACT: Final = Context(prec=78, rounding=ROUND_HALF_UP)


def wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return value if -half <= value < half else (value + half) % (1 << bits) - half


def _of_kind(kind: SqlType) -> tuple[Any, Fold, Fold]:
    """Zero, plus and minus."""
    if isinstance(kind, Decimal):
        return _of_decimal(kind)
    if kind == DOUBLE:
        return 0.0, lambda one, other: one + other, lambda one, other: one - other
    bits = 32 if kind == INTEGER else 64
    return 0, lambda one, other: wrapped(one + other, bits), lambda one, other: wrapped(one - other, bits)


def _of_decimal(kind: Decimal) -> tuple[Any, Fold, Fold]:
    unit = DecimalValue(1).scaleb(-kind.scale)
    limit = DecimalValue(1).scaleb(kind.precision - kind.scale)

    def fitted(value: DecimalValue) -> DecimalValue:
        if abs(value) >= limit:
            raise ValueError(f"the sum {value:f} does not fit {kind}: CAST the column to a larger DECIMAL")
        return value.quantize(unit, context=_EXACT)

    return (
        DecimalValue(0).quantize(unit),
        lambda one, other: fitted(_EXACT.add(one, other)),
        lambda one, other: fitted(_EXACT.subtract(one, other)),
    )


def _unless_null(step: Fold) -> Fold:
    return lambda state, value: state if value is None else step(state, value)


def _same(state: Any) -> Any:
    return state


def _sum(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    zero, plus, minus = _of_kind(types[0])
    return Folding(lambda: zero, _unless_null(plus), plus, _same, _unless_null(minus))


def _sum_list(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    kind = types[0]
    assert isinstance(kind, Array)
    zero, plus, minus = _of_kind(kind.element)

    def over(step: Fold) -> Fold:
        def each(state: Any, values: Sequence[Any] | None) -> Any:
            for value in values or ():
                if value is not None:
                    state = step(state, value)
            return state

        return each

    return Folding(lambda: zero, over(plus), plus, _same, over(minus))


def _average(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    zero, plus, minus = _of_kind(DOUBLE if types[0] == DOUBLE else BIGINT)

    def add(state: Sequence[Any], value: Any) -> Sequence[Any]:
        return state if value is None else [plus(state[0], value), state[1] + 1]

    def remove(state: Sequence[Any], value: Any) -> Sequence[Any]:
        return state if value is None else [minus(state[0], value), state[1] - 1]

    def merge(one: Sequence[Any], other: Sequence[Any]) -> Sequence[Any]:
        return [plus(one[0], other[0]), one[1] + other[1]]

    def result(state: Sequence[Any]) -> float:
        total, count = state
        return total / count if count else 0.0

    return Folding(lambda: [zero, 0], add, merge, result, remove)


def _first(types: Sequence[SqlType]) -> SqlType:
    return types[0]


def _forms(
    bind: Callable[[Sequence[SqlType], Sequence[Any]], Folding], result: SqlType | None = None
) -> tuple[AggregateForm, ...]:
    return tuple(
        AggregateForm((Parameter("col1", kind),), result or kind, bind) for kind in (INTEGER, BIGINT, DOUBLE)
    )


FUNCTIONS: Final = (
    Aggregate(
        "SUM",
        Category.AGGREGATE,
        "Adds the values of a column. Nulls are left out; a group without values has the sum 0. The result has the "
        "type of the column: integers wrap around when they overflow, and a decimal sum with too many digits is an "
        "error.",
        (*_forms(_sum), AggregateForm((Parameter("col1", AnyDecimal()),), _first, _sum)),
        ("SELECT user_id, SUM(amount) FROM orders GROUP BY user_id",),
    ),
    Aggregate(
        "SUM_LIST",
        Category.AGGREGATE,
        "Adds the elements of all arrays of a column. Nulls are left out.",
        tuple(
            AggregateForm((Parameter("col1", Array(kind)),), kind, _sum_list)
            for kind in (INTEGER, BIGINT, DOUBLE)
        ),
        ("SELECT user_id, SUM_LIST(amounts) FROM orders GROUP BY user_id",),
    ),
    Aggregate(
        "AVG",
        Category.AGGREGATE,
        "The sum of a column divided by the number of its values. Nulls are left out; a group without values has the "
        "average 0.0.",
        _forms(_average, DOUBLE),
        ("SELECT sensor, AVG(temperature) FROM readings GROUP BY sensor",),
    ),
)
