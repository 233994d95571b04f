"""COLLECT_LIST, COLLECT_SET, HISTOGRAM and ATTR: aggregates that keep the values of a group."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    ArrayOf,
    Category,
    Folding,
    Parameter,
    Variable,
)
from moldau.pipeline.sql.types import BIGINT, STRING, Map, SqlType

LIST_LIMIT: Final = "ksql.functions.collect_list.limit"
SET_LIMIT: Final = "ksql.functions.collect_set.limit"
UNLIMITED: Final = 2**31 - 1
HISTOGRAM_MAX: Final = 1000
_T: Final = Variable("T")


def _same(state: Any) -> Any:
    return state


def collect_list(limit: int = UNLIMITED) -> Aggregate:
    def add(state: list[Any], value: Any) -> list[Any]:
        return [*state, value] if len(state) < limit else state

    def merge(one: list[Any], other: list[Any]) -> list[Any]:
        return [*one, *other][: max(limit, len(one))]

    def bind(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
        return Folding(list, add, merge, _same, _without_last)

    return Aggregate(
        "COLLECT_LIST",
        Category.AGGREGATE,
        "An array of all values of a column, nulls included, in the order of the rows. Over a table the order is not "
        f"defined. The property {LIST_LIMIT} limits its length: further values are left out.",
        (AggregateForm((Parameter("col1", _T),), ArrayOf(_T), bind),),
        ("SELECT user_id, COLLECT_LIST(page_id) FROM pageviews GROUP BY user_id",),
    )


def _without_last(state: list[Any], value: Any) -> list[Any]:
    """Without the last of the values that are equal to this one."""
    for index in range(len(state) - 1, -1, -1):
        if state[index] == value:
            return [*state[:index], *state[index + 1 :]]
    return state


def collect_set(limit: int = UNLIMITED) -> Aggregate:
    def add(state: list[Any], value: Any) -> list[Any]:
        return [*state, value] if len(state) < limit and value not in state else state

    def merge(one: list[Any], other: list[Any]) -> list[Any]:
        return [*one, *(value for value in other if value not in one)][: max(limit, len(one))]

    def bind(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
        return Folding(list, add, merge, _same)

    return Aggregate(
        "COLLECT_SET",
        Category.AGGREGATE,
        "An array of the different values of a column, null included, in the order of their first rows. The property "
        f"{SET_LIMIT} limits its length: further values are left out.",
        (AggregateForm((Parameter("col1", _T),), ArrayOf(_T), bind),),
        ("SELECT user_id, COLLECT_SET(page_id) FROM pageviews GROUP BY user_id",),
    )


def _tally(state: Mapping[str, int], value: str | None) -> Mapping[str, int]:
    if value is None or (len(state) >= HISTOGRAM_MAX and value not in state):
        return state
    return {**state, value: state.get(value, 0) + 1}


def _untally(state: Mapping[str, int], value: str | None) -> Mapping[str, int]:
    if value is None or value not in state:
        return state
    left = {**state, value: state[value] - 1}
    if not left[value]:
        del left[value]
    return left


def _tally_both(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    made = dict(one)
    for value, count in other.items():
        if value in made or len(made) < HISTOGRAM_MAX:
            made[value] = made.get(value, 0) + count
    return made


def _histogram(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(dict, _tally, _tally_both, _same, _untally)


# A state of ATTR is a list of [value, how many rows have it].


def _counted(state: Sequence[Sequence[Any]], value: Any, count: int) -> list[Sequence[Any]]:
    before = next((entry[1] for entry in state if entry[0] == value), None)
    if before is None:
        return [*state, [value, count]] if count > 0 else list(state)
    made = [[kept, number + count] if kept == value else [kept, number] for kept, number in state]
    return [entry for entry in made if entry[1] > 0]


def _note(state: Sequence[Sequence[Any]], value: Any) -> list[Sequence[Any]]:
    return _counted(state, value, 1)


def _unnote(state: Sequence[Sequence[Any]], value: Any) -> list[Sequence[Any]]:
    return _counted(state, value, -1)


def _notes_of_both(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    for value, count in other:
        one = _counted(one, value, count)
    return one


def _single(state: Sequence[Sequence[Any]]) -> Any:
    return state[0][0] if len(state) == 1 else None


def _attr(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(list, _note, _notes_of_both, _single, _unnote)


FUNCTIONS: Final = (
    collect_list(),
    collect_set(),
    Aggregate(
        "HISTOGRAM",
        Category.AGGREGATE,
        "A map from each value of a text column to the number of its rows. Nulls are left out. The map has at most "
        f"{HISTOGRAM_MAX} entries: further values are left out.",
        (AggregateForm((Parameter("col1", STRING),), Map(STRING, BIGINT), _histogram),),
        ("SELECT region, HISTOGRAM(status) FROM orders GROUP BY region",),
    ),
    Aggregate(
        "ATTR",
        Category.AGGREGATE,
        "The value that all rows of the group have in a column; null where they have several.",
        (AggregateForm((Parameter("col1", _T),), _T, _attr),),
        ("SELECT user_id, ATTR(country) FROM users GROUP BY user_id",),
    ),
)
