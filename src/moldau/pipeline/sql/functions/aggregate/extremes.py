"""MIN, MAX, TOPK and TOPKDISTINCT: what an order of values decides."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    AnyDecimal,
    AnyType,
    Category,
    Folding,
    Parameter,
    Pattern,
)
from moldau.pipeline.sql.types import (
    BIGINT,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    SqlType,
    Struct,
)

_ORDERED: Final[tuple[Pattern, ...]] = (
    INTEGER,
    BIGINT,
    DOUBLE,
    AnyDecimal(),
    STRING,
    BYTES,
    DATE,
    TIME,
    TIMESTAMP,
)
SORT_FIELD: Final = "sort_col"


def _rank(value: Any) -> Any:
    """NaN is the largest number, as in Java."""
    return (value != value, value) if type(value) is float else value


def _same(state: Any) -> Any:
    return state


def _nothing() -> None:
    return None


def _largest(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return other if _rank(other) > _rank(one) else one


def _smallest(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return other if _rank(other) < _rank(one) else one


def _max(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(_nothing, _largest, _largest, _same)


def _min(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(_nothing, _smallest, _smallest, _same)


def _size(constants: Sequence[Any]) -> int:
    size = constants[-1]
    if size is None or size < 1:
        raise ValueError(f"k is how many values to keep: it must be 1 or more, not {size}")
    return int(size)


def _top(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    """Entries are the values themselves, or structs that have the values first."""
    size, others = _size(constants), len(types) - 2

    def rank(entry: Any) -> Any:
        return _rank(entry[SORT_FIELD] if others else entry)

    def kept(entries: list[Any]) -> list[Any]:
        # The sort is stable, in reverse too: of equal values those that came first stay first.
        return sorted(entries, key=rank, reverse=True)[:size]

    def add(state: list[Any], value: Any, *rest: Any) -> list[Any]:
        if value is None:
            return state
        fields = {f"col{index}": rest[index] for index in range(others)}
        return kept([*state, {SORT_FIELD: value, **fields} if others else value])

    return Folding(list, add, lambda one, other: kept([*one, *other]), _same)


def _top_type(types: Sequence[SqlType]) -> SqlType:
    value, *others = types[:-1]
    if not others:
        return Array(value)
    return Array(Struct([(SORT_FIELD, value), *((f"col{index}", kind) for index, kind in enumerate(others))]))


def _top_distinct(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    size = _size(constants)

    def kept(entries: list[Any]) -> list[Any]:
        return sorted(entries, key=_rank, reverse=True)[:size]

    def add(state: list[Any], value: Any, k: Any) -> list[Any]:
        return state if value is None or value in state else kept([*state, value])

    def merge(one: list[Any], other: list[Any]) -> list[Any]:
        return kept([*one, *(value for value in other if value not in one)])

    return Folding(list, add, merge, _same)


def _first(types: Sequence[SqlType]) -> SqlType:
    return types[0]


def _array_of_first(types: Sequence[SqlType]) -> SqlType:
    return Array(types[0])


def _of_one(bind: Callable[[Sequence[SqlType], Sequence[Any]], Folding]) -> tuple[AggregateForm, ...]:
    return tuple(AggregateForm((Parameter("col1", kind),), _first, bind) for kind in _ORDERED)


_K: Final = Parameter("k", INTEGER, "How many values to keep; a constant.")

FUNCTIONS: Final = (
    Aggregate(
        "MAX",
        Category.AGGREGATE,
        "The largest value of a column: a number, text, bytes or a time. Null where a group has no value.",
        _of_one(_max),
        ("SELECT sensor, MAX(temperature) FROM readings GROUP BY sensor",),
    ),
    Aggregate(
        "MIN",
        Category.AGGREGATE,
        "The smallest value of a column: a number, text, bytes or a time. Null where a group has no value.",
        _of_one(_min),
        ("SELECT sensor, MIN(temperature) FROM readings GROUP BY sensor",),
    ),
    Aggregate(
        "TOPK",
        Category.AGGREGATE,
        "The k largest values of a column, the largest first. With further columns it is an array of structs, with the "
        "value in the field sort_col and the further columns in col0, col1 and so on. Rows where the first column is "
        "null are left out.",
        tuple(
            AggregateForm(
                (Parameter("col1", kind), Parameter("others", AnyType()), _K),
                _top_type,
                _top,
                constants_from=-1,
                is_variadic=True,
                after_variadic=1,
            )
            for kind in (INTEGER, BIGINT, DOUBLE, STRING)
        ),
        (
            "SELECT zip, TOPK(total, 5) FROM orders GROUP BY zip",
            "SELECT zip, TOPK(total, order_id, 5) FROM orders GROUP BY zip",
        ),
    ),
    Aggregate(
        "TOPKDISTINCT",
        Category.AGGREGATE,
        "The k largest different values of a column, the largest first. Nulls are left out.",
        tuple(
            AggregateForm((Parameter("col1", kind), _K), _array_of_first, _top_distinct, constants_from=-1)
            for kind in _ORDERED
        ),
        ("SELECT page_id, TOPKDISTINCT(view_time, 5) FROM pageviews GROUP BY page_id",),
    ),
)
