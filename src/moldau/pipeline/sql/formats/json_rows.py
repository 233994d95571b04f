"""Objects to rows, fast. The columns are looked up in one step for every set of field names that has been seen, and
only values that are not yet of the column's type are converted.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final

from moldau.pipeline.code.generated import generated_function, tuple_of
from moldau.pipeline.sql.formats.number_ranges import RANGES
from moldau.pipeline.sql.types import BOOLEAN, DOUBLE, STRING, Column, SqlType

Fields = dict[str, Any]
Row = tuple[Any, ...]

SHAPES_MAX: Final = 1_000
"""How many sets of field names are remembered for a list of columns."""

_CLASS: Final[dict[SqlType, str]] = {BOOLEAN: "bool", DOUBLE: "float", STRING: "str"}


def row_reader(
    columns: Sequence[Column], converters: Sequence[Callable[[Any], Any]], wanted: Sequence[str] | None = None
) -> Callable[[Fields], Row]:
    """`converters` get values that are not null and not of the column's type."""
    is_wanted = [wanted is None or column.name in wanted for column in columns]
    names_wanted = [column.name if one else None for column, one in zip(columns, is_wanted, strict=True)]
    typed = _typed(columns, converters, is_wanted)
    getters: dict[Row, Callable[[Fields], Row]] = {}

    def read(fields: Fields) -> Row:
        names = tuple(fields)
        getter = getters.get(names)
        if getter is None:
            chosen = chosen_fields(names_wanted, names)
            if len(getters) >= SHAPES_MAX:
                return typed([None if name is None else fields[name] for name in chosen])
            getter = getters[names] = _getter(chosen)
        return typed(getter(fields))

    return read


def chosen_fields(columns: Sequence[str | None], names: Sequence[str]) -> list[str | None]:
    """For each column the field that holds it: the one of its name, else one whose name is equal in upper case."""
    present = set(names)
    by_upper = {name.upper(): name for name in names}
    return [name if name is None or name in present else by_upper.get(name) for name in columns]


def _getter(chosen: Sequence[str | None]) -> Callable[[Fields], Row]:
    if len(chosen) > 1 and None not in chosen:
        return itemgetter(*chosen)
    parts = ["None" if name is None else f"f[n{index}]" for index, name in enumerate(chosen)]
    found: Callable[[Fields], Row] = generated_function(
        "f", [f"return {tuple_of(parts)}"], {f"n{index}": name for index, name in enumerate(chosen)}
    )
    return found


def _typed(
    columns: Sequence[Column], converters: Sequence[Callable[[Any], Any]], is_wanted: Sequence[bool]
) -> Callable[[Sequence[Any]], Row]:
    def convert(index: int, value: Any) -> Any:
        try:
            return converters[index](value)
        except (ValueError, TypeError, ArithmeticError) as wrong:
            raise ValueError(f"column {columns[index].name} {columns[index].type}: {wrong}") from None

    values = [f"v{index}" for index in range(len(columns))]
    checks = [
        f"if {_needs_conversion(value, column.type)}: {value} = convert({index}, {value})"
        for index, (value, column) in enumerate(zip(values, columns, strict=True))
        if is_wanted[index]
    ]
    lines = [f"{tuple_of(values)} = row", *checks, f"return {tuple_of(values)}"]
    typed: Callable[[Sequence[Any]], Row] = generated_function("row", lines, {"convert": convert})
    return typed


def _needs_conversion(value: str, kind: SqlType) -> str:
    if kind in RANGES:
        low, high = RANGES[kind]
        return f"not ({value}.__class__ is int and {low} <= {value} <= {high} or {value} is None)"
    if kind in _CLASS:
        return f"{value}.__class__ is not {_CLASS[kind]} and {value} is not None"
    return f"{value} is not None"
