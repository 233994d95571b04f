"""Columns for functions of a pandas Series or a pyarrow Array. Both packages are imported when such a function runs."""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from moldau.pipeline.sql.functions.user.hints import Shape
from moldau.pipeline.sql.types import BIGINT, BOOLEAN, BYTES, DOUBLE, INTEGER, STRING, SqlType

_PANDAS: Final[Mapping[SqlType, str]] = {
    DOUBLE: "float64",
    BIGINT: "int64",
    INTEGER: "int32",
    BOOLEAN: "bool",
}
"""Only of columns without nulls; all others are of objects."""
_ARROW: Final[Mapping[SqlType, str]] = {
    DOUBLE: "float64",
    BIGINT: "int64",
    INTEGER: "int32",
    BOOLEAN: "bool_",
    STRING: "string",
    BYTES: "binary",
}


def columns_reader(
    shape: Shape, types: Sequence[SqlType | None]
) -> Callable[[Sequence[Sequence[Any]]], tuple[Any, ...]]:
    """Makes the columns of the values of each argument."""
    make = _series if shape is Shape.PANDAS else _array

    def columns(values: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        return tuple(make(list(one), kind) for one, kind in zip(values, types, strict=True))

    return columns


def _series(values: list[Any], kind: SqlType | None) -> Any:
    pandas: Any = importlib.import_module("pandas")
    dtype = "object" if kind is None or None in values else _PANDAS.get(kind, "object")
    return pandas.Series(values, dtype=dtype)


def _array(values: list[Any], kind: SqlType | None) -> Any:
    arrow: Any = importlib.import_module("pyarrow")
    name = None if kind is None else _ARROW.get(kind)
    return arrow.array(values, type=None if name is None else getattr(arrow, name)())


def values_of(result: Any, count: int) -> list[Any]:
    """A result's values in Python. A missing number of pandas is null."""
    if hasattr(result, "to_pylist"):
        found = result.to_pylist()
    elif hasattr(result, "tolist"):
        found = [None if isinstance(one, float) and math.isnan(one) else one for one in result.tolist()]
    else:
        found = list(result)
    if len(found) != count:
        raise ValueError(f"returned {len(found)} values for {count} rows")
    return [None if type(one).__name__ in ("NAType", "NaTType") else one for one in found]
