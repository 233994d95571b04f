"""STDDEV_SAMP, STDDEV_SAMPLE and CORRELATION."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.pipeline.sql.functions.aggregate.sums import wrapped
from moldau.pipeline.sql.functions.declaration import Aggregate, AggregateForm, Category, Folding, Parameter
from moldau.pipeline.sql.types import BIGINT, DOUBLE, INTEGER, SqlType

# A state of the deviation is [sum, count, sum of the squared distances from the mean].


def _delta(state: Sequence[Any], value: Any) -> float:
    total, count, _ = state
    return float(value * (count + 1) - (total + value))


def _deviation(finish: Callable[[float], float], is_whole: bool) -> Folding:
    def bounded(total: Any) -> Any:
        return wrapped(total, 64) if is_whole else total

    def add(state: Sequence[Any], value: Any) -> Sequence[Any]:
        if value is None:
            return state
        total, count, squares = state
        if count:
            squares += _delta(state, value) ** 2 / (count * (count + 1))
        return [bounded(total + value), count + 1, squares]

    def remove(state: Sequence[Any], value: Any) -> Sequence[Any]:
        if value is None:
            return state
        total, count, squares = state
        left = [bounded(total - value), count - 1, 0.0]
        if count > 1:
            left[2] = max(0.0, squares - _delta(left, value) ** 2 / (count * (count - 1)))
        return left

    def merge(one: Sequence[Any], other: Sequence[Any]) -> Sequence[Any]:
        if not one[1] or not other[1]:
            return one if one[1] else other
        count = one[1] + other[1]
        distance = one[0] / one[1] - other[0] / other[1]
        squares = one[2] + other[2] + one[1] * other[1] * distance**2 / count
        return [bounded(one[0] + other[0]), count, squares]

    def result(state: Sequence[Any]) -> float:
        return 0.0 if state[1] < 2 else finish(state[2] / (state[1] - 1))

    zero = 0 if is_whole else 0.0
    return Folding(lambda: [zero, 0, 0.0], add, merge, result, remove)


def _variance(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return _deviation(float, types[0] != DOUBLE)


def _standard_deviation(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return _deviation(math.sqrt, types[0] != DOUBLE)


# A state of the correlation is [sum of x, of y, of x * x, of y * y, of x * y, count].


def _terms(x: float, y: float) -> tuple[float, ...]:
    x, y = float(x), float(y)
    return x, y, x * x, y * y, x * y, 1


def _correlate(state: Sequence[Any], x: Any, y: Any) -> Sequence[Any]:
    if x is None or y is None:
        return state
    return [kept + term for kept, term in zip(state, _terms(x, y), strict=True)]


def _uncorrelate(state: Sequence[Any], x: Any, y: Any) -> Sequence[Any]:
    if x is None or y is None:
        return state
    return [kept - term for kept, term in zip(state, _terms(x, y), strict=True)]


def _both(one: Sequence[Any], other: Sequence[Any]) -> Sequence[Any]:
    return [left + right for left, right in zip(one, other, strict=True)]


def _coefficient(state: Sequence[Any]) -> float:
    """NaN where one of the columns does not vary."""
    x, y, xx, yy, xy, count = state
    spread = (count * xx - x * x) * (count * yy - y * y)
    return (count * xy - x * y) / math.sqrt(spread) if spread > 0 else math.nan


def _correlation(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(lambda: [0.0, 0.0, 0.0, 0.0, 0.0, 0], _correlate, _both, _coefficient, _uncorrelate)


_NUMBERS: Final = (INTEGER, BIGINT, DOUBLE)


def _of_one(bind: Callable[[Sequence[SqlType], Sequence[Any]], Folding]) -> tuple[AggregateForm, ...]:
    return tuple(AggregateForm((Parameter("col1", kind),), DOUBLE, bind) for kind in _NUMBERS)


FUNCTIONS: Final = (
    Aggregate(
        "STDDEV_SAMP",
        Category.AGGREGATE,
        "The sample variance of a column: the square of STDDEV_SAMPLE. The name is ksqlDB's, whose function of this "
        "name takes no root. A group with fewer than two values has 0.0.",
        _of_one(_variance),
        ("SELECT sensor, STDDEV_SAMP(temperature) FROM readings GROUP BY sensor",),
    ),
    Aggregate(
        "STDDEV_SAMPLE",
        Category.AGGREGATE,
        "The sample standard deviation of a column. Nulls are left out; a group with fewer than two values has 0.0.",
        _of_one(_standard_deviation),
        ("SELECT sensor, STDDEV_SAMPLE(temperature) FROM readings GROUP BY sensor",),
    ),
    Aggregate(
        "CORRELATION",
        Category.AGGREGATE,
        "Pearson's correlation coefficient of two columns. Rows where one of them is null are left out. It is NaN "
        "where a column has only one value.",
        tuple(
            AggregateForm((Parameter("col1", kind), Parameter("col2", kind)), DOUBLE, _correlation)
            for kind in _NUMBERS
        ),
        ("SELECT sensor, CORRELATION(temperature, pressure) FROM readings GROUP BY sensor",),
    ),
)
