"""Functions of arrays. Positions count from 1."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    AnyDecimal,
    ArrayOf,
    Category,
    Form,
    Parameter,
    Scalar,
    Variable,
)
from moldau.pipeline.sql.functions.scalar.ordering import check_order, first_type, rank
from moldau.pipeline.sql.types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, Array, SqlType
from moldau.pipeline.sql.value_texts import decimal_text, double_text

SERIES_MAX: Final = 1_000_000
"""How many elements GENERATE_SERIES makes at most."""

_ASCENDING: Final = ("ASC", "ASCENDING")
_DESCENDING: Final = ("DESC", "DESCENDING")


def _key(value: Any) -> Any:
    """What a set can hold for a value."""
    if isinstance(value, list):
        return tuple(map(_key, value))
    if isinstance(value, dict):
        return frozenset((name, _key(one)) for name, one in value.items())
    return value


def array_concat(left: list[Any] | None, right: list[Any] | None) -> list[Any] | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


def array_contains(values: list[Any] | None, wanted: Any) -> bool:
    return values is not None and wanted in values


def array_distinct(values: list[Any]) -> list[Any]:
    return _first_of_each(values)


def _first_of_each(values: Sequence[Any]) -> list[Any]:
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault(_key(value), value)
    return list(found.values())


def array_except(left: list[Any], right: list[Any]) -> list[Any]:
    excluded = set(map(_key, right))
    return [value for value in _first_of_each(left) if _key(value) not in excluded]


def array_intersect(left: list[Any], right: list[Any]) -> list[Any]:
    wanted = set(map(_key, right))
    return [value for value in _first_of_each(left) if _key(value) in wanted]


def array_union(left: list[Any], right: list[Any]) -> list[Any]:
    return _first_of_each(left + right)


def array_join(values: list[Any] | None, delimiter: str | None = ",") -> str | None:
    return None if values is None else (delimiter or "").join(map(_element_text, values))


def _element_text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value)
        case Decimal():
            return decimal_text(value)
    return str(value)


def array_max(values: list[Any]) -> Any:
    return max((value for value in values if value is not None), key=rank, default=None)


def array_min(values: list[Any]) -> Any:
    return min((value for value in values if value is not None), key=rank, default=None)


def array_remove(values: list[Any] | None, unwanted: Any) -> list[Any] | None:
    return None if values is None else [value for value in values if value != unwanted]


def array_sort(values: list[Any], direction: str = "ASC") -> list[Any] | None:
    way = direction.upper()
    if way not in (*_ASCENDING, *_DESCENDING):
        raise ValueError(f"{direction!r} is no direction: sort ASC or DESC")
    there = sorted((value for value in values if value is not None), key=rank, reverse=way in _DESCENDING)
    return there + [None] * (len(values) - len(there))


def slice_(values: list[Any] | None, first: int | None, last: int | None) -> list[Any] | None:
    """NULL where a position is not in the array."""
    if values is None:
        return None
    start = 0 if first is None else first - 1
    end = len(values) if last is None else last
    return values[start:end] if 0 <= start <= end <= len(values) else None


def generate_series(start: int, end: int, step: int | None = None) -> list[int]:
    if step is None:
        step = 1 if end >= start else -1
    if step == 0:
        raise ValueError(f"a series from {start} to {end} in steps of 0 has no end")
    if (end - start) * step < 0:
        raise ValueError(f"a series from {start} does not reach {end} in steps of {step}: the sign is wrong")
    size = (end - start) // step + 1
    if size > SERIES_MAX:
        raise ValueError(f"a series from {start} to {end} has {size} elements; {SERIES_MAX} is the most")
    return list(range(start, start + size * step, step))


_T: Final = Variable("T")
_ARRAY: Final = Parameter("values", ArrayOf(_T))
_TWO: Final = (Parameter("left", ArrayOf(_T)), Parameter("right", ArrayOf(_T)))
_TEXTS: Final = (STRING, INTEGER, BIGINT, DOUBLE, AnyDecimal(), BOOLEAN)


def _element(types: Sequence[SqlType]) -> SqlType:
    kind = first_type(types)
    assert isinstance(kind, Array)
    check_order(kind.element)
    return kind.element


def _sorted_array(types: Sequence[SqlType]) -> SqlType:
    return Array(_element(types))


def _joining_forms() -> tuple[Form, ...]:
    delimiter = Parameter("delimiter", STRING, "a comma without this argument")
    arrays = [Parameter("values", ArrayOf(kind)) for kind in _TEXTS]
    return (*(Form((one,), STRING) for one in arrays), *(Form((one, delimiter), STRING) for one in arrays))


def _series_forms(kind: SqlType) -> tuple[Form, ...]:
    ends = (Parameter("start", kind), Parameter("end", kind, "the last number, or the bound of it"))
    step = Parameter("step", INTEGER, "1 without this argument, or -1 downwards")
    return Form(ends, Array(kind)), Form((*ends, step), Array(kind))


def _of_two(
    name: str, doc: str, meaning: Callable[..., Any], *examples: str, takes_null: bool = False
) -> Scalar:
    form = Form(_TWO, ArrayOf(_T))
    return Scalar(name, Category.COLLECTION, doc, (form,), meaning, takes_null=takes_null, examples=examples)


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    _of_two(
        "ARRAY_CONCAT",
        "All elements of one array, then all of another one. Where one is null, the other one.",
        array_concat,
        "ARRAY_CONCAT(ARRAY[1, 2], ARRAY[2, 3]) => ARRAY[1, 2, 2, 3]",
        "ARRAY_CONCAT(ARRAY[1, 2], NULL) => ARRAY[1, 2]",
        takes_null=True,
    ),
    Scalar(
        "ARRAY_CONTAINS",
        Category.COLLECTION,
        "Whether a value is among the elements of an array.",
        (Form((_ARRAY, Parameter("value", _T)), BOOLEAN),),
        array_contains,
        takes_null=True,
        examples=(
            "ARRAY_CONTAINS(ARRAY[1, 2, 3], 3) => TRUE",
            "ARRAY_CONTAINS(ARRAY['a', 'b'], 'c') => FALSE",
        ),
    ),
    Scalar(
        "ARRAY_DISTINCT",
        Category.COLLECTION,
        "Each element of an array once, in the order of their first places.",
        (Form((_ARRAY,), ArrayOf(_T)),),
        array_distinct,
        examples=("ARRAY_DISTINCT(ARRAY[3, 1, 3, NULL, 1]) => ARRAY[3, 1, NULL]",),
    ),
    _of_two(
        "ARRAY_EXCEPT",
        "Each element of one array once, without those of another one.",
        array_except,
        "ARRAY_EXCEPT(ARRAY[1, 2, 3, 1], ARRAY[2]) => ARRAY[1, 3]",
    ),
    _of_two(
        "ARRAY_INTERSECT",
        "Each element that is in both arrays once, in the order of the first one.",
        array_intersect,
        "ARRAY_INTERSECT(ARRAY[3, 2, 1, 2], ARRAY[1, 2]) => ARRAY[2, 1]",
    ),
    Scalar(
        "ARRAY_JOIN",
        Category.COLLECTION,
        "The elements of an array as text, with a delimiter between them.",
        _joining_forms(),
        array_join,
        takes_null=True,
        examples=(
            "ARRAY_JOIN(ARRAY['a', 'b']) => 'a,b'",
            "ARRAY_JOIN(ARRAY[1, NULL, 3], ' - ') => '1 - null - 3'",
            "ARRAY_JOIN(ARRAY[1.5E0, 2E0], '; ') => '1.5; 2.0'",
        ),
    ),
    Scalar(
        "ARRAY_LENGTH",
        Category.COLLECTION,
        "How many elements an array has.",
        (Form((_ARRAY,), INTEGER),),
        len,
        examples=("ARRAY_LENGTH(ARRAY['a', NULL, 'c']) => 3",),
    ),
    Scalar(
        "ARRAY_MAX",
        Category.COLLECTION,
        "The largest element that is not null.",
        (Form((_ARRAY,), _element),),
        array_max,
        examples=("ARRAY_MAX(ARRAY[-1, 2, NULL, 0]) => 2", "ARRAY_MAX(ARRAY['Ox', 'ant']) => 'ant'"),
    ),
    Scalar(
        "ARRAY_MIN",
        Category.COLLECTION,
        "The smallest element that is not null.",
        (Form((_ARRAY,), _element),),
        array_min,
        examples=("ARRAY_MIN(ARRAY[-1, 2, NULL, 0]) => -1", "ARRAY_MIN(ARRAY[TRUE, FALSE]) => FALSE"),
    ),
    Scalar(
        "ARRAY_REMOVE",
        Category.COLLECTION,
        "An array without the elements that are equal to a value; without its nulls where that is null.",
        (Form((_ARRAY, Parameter("value", _T)), ArrayOf(_T)),),
        array_remove,
        takes_null=True,
        examples=(
            "ARRAY_REMOVE(ARRAY[1, 2, 1, 3], 1) => ARRAY[2, 3]",
            "ARRAY_REMOVE(ARRAY['a', NULL, 'b'], NULL) => ARRAY['a', 'b']",
        ),
    ),
    Scalar(
        "ARRAY_SORT",
        Category.COLLECTION,
        "The elements of an array in order; nulls stand at the end.",
        (
            Form((_ARRAY,), _sorted_array),
            Form(
                (_ARRAY, Parameter("direction", STRING, "ASC, which it is without this argument, or DESC")),
                _sorted_array,
            ),
        ),
        array_sort,
        examples=(
            "ARRAY_SORT(ARRAY[3, NULL, 1, 2]) => ARRAY[1, 2, 3, NULL]",
            "ARRAY_SORT(ARRAY['b', 'a', 'c'], 'DESC') => ARRAY['c', 'b', 'a']",
        ),
    ),
    _of_two(
        "ARRAY_UNION",
        "Each element of two arrays once, in the order of their first places.",
        array_union,
        "ARRAY_UNION(ARRAY[1, 2, 2], ARRAY[3, 1]) => ARRAY[1, 2, 3]",
    ),
    Scalar(
        "GENERATE_SERIES",
        Category.COLLECTION,
        f"The numbers from one to another, both of them included. {SERIES_MAX} is the most.",
        (*_series_forms(INTEGER), *_series_forms(BIGINT)),
        generate_series,
        examples=(
            "GENERATE_SERIES(1, 4) => ARRAY[1, 2, 3, 4]",
            "GENERATE_SERIES(3, 1) => ARRAY[3, 2, 1]",
            "GENERATE_SERIES(0, 10, 5) => ARRAY[0, 5, 10]",
        ),
    ),
    Scalar(
        "SLICE",
        Category.COLLECTION,
        "The elements from one position to another, both of them included. NULL where there is no such position.",
        (
            Form(
                (
                    _ARRAY,
                    Parameter("first", INTEGER, "from the beginning where it is NULL"),
                    Parameter("last", INTEGER, "to the end where it is NULL"),
                ),
                ArrayOf(_T),
            ),
        ),
        slice_,
        takes_null=True,
        examples=(
            "SLICE(ARRAY['a', 'b', 'c', 'd'], 2, 3) => ARRAY['b', 'c']",
            "SLICE(ARRAY['a', 'b', 'c'], 2, NULL) => ARRAY['b', 'c']",
            "SLICE(ARRAY['a', 'b', 'c'], 2, 9) => NULL",
        ),
    ),
)
