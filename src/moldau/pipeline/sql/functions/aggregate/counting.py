"""COUNT and COUNT_DISTINCT."""

import math
from collections.abc import Sequence
from typing import Any, Final

import orjson
import xxhash

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    AnyType,
    Category,
    Folding,
    Parameter,
)
from moldau.pipeline.sql.types import BIGINT, SqlType

EXACT_MAX: Final = 512
"""Up to so many different values are counted exactly."""
REGISTER_BITS: Final = 14
"""2 ** 14 registers of HyperLogLog: a standard error of 0.8 %."""
_REGISTERS: Final = 1 << REGISTER_BITS
_ALPHA: Final = 0.7213 / (1 + 1.079 / _REGISTERS)


def _zero() -> int:
    return 0


def _same(state: Any) -> Any:
    return state


def _count_row(state: int) -> int:
    return state + 1


def _uncount_row(state: int) -> int:
    return state - 1


def _count(state: int, value: Any) -> int:
    return state if value is None else state + 1


def _uncount(state: int, value: Any) -> int:
    return state if value is None else state - 1


def _sum(one: int, other: int) -> int:
    return one + other


def _rows(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(_zero, _count_row, _sum, _same, _uncount_row)


def _values(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(_zero, _count, _sum, _same, _uncount)


# COUNT_DISTINCT: a sorted list of hashes, and from EXACT_MAX on the registers of HyperLogLog, as bytes.


def hashed(value: Any) -> int:
    """63 bits that are the same for the same value, whatever the process."""
    return xxhash.xxh3_64_intdigest(orjson.dumps(value, default=_told, option=orjson.OPT_SORT_KEYS)) >> 1


def _told(value: Any) -> str:
    return f"{type(value).__name__} {value}"


def _add_distinct(state: Any, value: Any) -> Any:
    if value is None:
        return state
    found = hashed(value)
    if isinstance(state, bytes):
        return _raised(state, (found,))
    if found in state:
        return state
    if len(state) == EXACT_MAX:
        return _raised(bytes(_REGISTERS), (*state, found))
    return [*state, found]


def _raised(registers: bytes, hashes: Sequence[int]) -> bytes:
    """A register holds the highest position of a first 1 among the hashes that belong to it."""
    made = bytearray(registers)
    width = 63 - REGISTER_BITS
    for one in hashes:
        index, rest = one >> width, one & ((1 << width) - 1)
        made[index] = max(made[index], width - rest.bit_length() + 1)
    return bytes(made)


def _merge_distinct(one: Any, other: Any) -> Any:
    if isinstance(one, bytes) and isinstance(other, bytes):
        return bytes(map(max, one, other))
    if isinstance(one, bytes):
        return _raised(one, other)
    if isinstance(other, bytes):
        return _raised(other, one)
    both = list(dict.fromkeys((*one, *other)))
    return both if len(both) <= EXACT_MAX else _raised(bytes(_REGISTERS), both)


def _distinct(state: Any) -> int:
    if not isinstance(state, bytes):
        return len(state)
    estimate = _ALPHA * _REGISTERS * _REGISTERS / sum(2.0**-register for register in state)
    empty = state.count(0)
    if estimate <= 2.5 * _REGISTERS and empty:
        estimate = _REGISTERS * math.log(_REGISTERS / empty)
    return round(estimate)


def _bind_distinct(types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
    return Folding(list, _add_distinct, _merge_distinct, _distinct)


FUNCTIONS: Final = (
    Aggregate(
        "COUNT",
        Category.AGGREGATE,
        "Counts rows. With a column, it counts the rows where the column is not null.",
        (
            AggregateForm((), BIGINT, _rows, doc="COUNT(*): all rows."),
            AggregateForm((Parameter("col1", AnyType()),), BIGINT, _values, doc="The rows with a value."),
        ),
        ("SELECT user_id, COUNT(*) FROM pageviews GROUP BY user_id",),
    ),
    Aggregate(
        "COUNT_DISTINCT",
        Category.AGGREGATE,
        "Counts the different values of a column, without nulls. The count is exact up to "
        f"{EXACT_MAX} values, and an estimate (HyperLogLog, standard error 0.8 %) beyond.",
        (AggregateForm((Parameter("col1", AnyType()),), BIGINT, _bind_distinct),),
        ("SELECT page_id, COUNT_DISTINCT(user_id) FROM pageviews GROUP BY page_id",),
    ),
)
