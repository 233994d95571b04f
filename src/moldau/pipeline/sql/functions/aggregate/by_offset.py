"""EARLIEST_BY_OFFSET and LATEST_BY_OFFSET: the first and the last rows of a group in the order of their arrival.

A state is a list of [sequence number, value] in the order of arrival. The numbers order the rows of two session windows
that are merged. A worker that continues stored state numbers on from the states it has seen.
"""

from collections.abc import Callable, Sequence
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
from moldau.pipeline.sql.types import BOOLEAN, INTEGER, SqlType

State = list[list[Any]]
Keep = Callable[[State], State]
_T: Final = Variable("T")


class Sequencer:
    """Numbers rows in the order in which a worker aggregates them."""

    def __init__(self) -> None:
        self._next = 0

    def after(self, state: State) -> int:
        if state:
            self._next = max(self._next, state[-1][0] + 1)
        number = self._next
        self._next += 1
        return number


def _folding(keep: Keep, ignores_nulls: bool, result: Callable[[State], Any]) -> Folding:
    sequencer = Sequencer()

    def add(state: State, value: Any, *constants: Any) -> State:
        if value is None and ignores_nulls:
            return state
        return keep([*state, [sequencer.after(state), value]])

    def merge(one: State, other: State) -> State:
        return keep(sorted([*one, *other], key=_number))

    return Folding(list, add, merge, result)


def _number(entry: list[Any]) -> int:
    number: int = entry[0]
    return number


def _first_of(count: int) -> Keep:
    return lambda state: state[:count]


def _last_of(count: int) -> Keep:
    return lambda state: state[-count:]


def _value(state: State) -> Any:
    return state[0][1] if state else None


def _values(state: State) -> list[Any]:
    return [value for _, value in state]


def _one(keep: Callable[[int], Keep]) -> Callable[[Sequence[SqlType], Sequence[Any]], Folding]:
    def bind(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
        return _folding(keep(1), _ignores_nulls(constants[1:]), _value)

    return bind


def _several(keep: Callable[[int], Keep]) -> Callable[[Sequence[SqlType], Sequence[Any]], Folding]:
    def bind(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
        count = constants[1]
        if count is None or count < 1:
            raise ValueError(f"n is how many values to keep: it must be 1 or more, not {count}")
        return _folding(keep(count), _ignores_nulls(constants[2:]), _values)

    return bind


def _ignores_nulls(constants: Sequence[Any]) -> bool:
    return constants[0] is not False if constants else True


def _forms(keep: Callable[[int], Keep]) -> tuple[AggregateForm, ...]:
    column = Parameter("col1", _T)
    count = Parameter("n", INTEGER, "How many values to keep; a constant.")
    nulls = Parameter(
        "ignoreNulls", BOOLEAN, "Whether rows without a value are left out; a constant, else TRUE."
    )
    one, several = _one(keep), _several(keep)
    return (
        AggregateForm((column,), _T, one),
        AggregateForm((column, nulls), _T, one, constants_from=1),
        AggregateForm((column, count), ArrayOf(_T), several, constants_from=1),
        AggregateForm((column, count, nulls), ArrayOf(_T), several, constants_from=1),
    )


FUNCTIONS: Final = (
    Aggregate(
        "EARLIEST_BY_OFFSET",
        Category.AGGREGATE,
        "The value of the row that arrived first, or an array of the first n values. Nulls are left out unless the "
        "last argument is FALSE.",
        _forms(_first_of),
        ("SELECT user_id, EARLIEST_BY_OFFSET(page_id, 3) FROM pageviews GROUP BY user_id",),
    ),
    Aggregate(
        "LATEST_BY_OFFSET",
        Category.AGGREGATE,
        "The value of the row that arrived last, or an array of the last n values in the order of arrival. Nulls are "
        "left out unless the last argument is FALSE.",
        _forms(_last_of),
        ("SELECT user_id, LATEST_BY_OFFSET(page_id, 3) FROM pageviews GROUP BY user_id",),
    ),
)
