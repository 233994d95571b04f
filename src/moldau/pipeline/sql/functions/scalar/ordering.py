"""The order of values, and which types have one."""

from collections.abc import Sequence
from typing import Any

from moldau.pipeline.sql.types import Array, Map, SqlType, Struct


def rank(value: Any) -> Any:
    """A key to sort by: NaN is the largest number, as in Java."""
    return (value != value, value) if type(value) is float else value


def check_order(kind: SqlType) -> None:
    """ValueError for a type whose values have no order."""
    if isinstance(kind, Array | Map | Struct):
        raise ValueError(f"values of {kind} have no order")


def first_type(types: Sequence[SqlType]) -> SqlType:
    """The type of the first argument that is not NULL by itself."""
    if not types:
        raise ValueError("NULL alone has no type: CAST it to one")
    return types[0]
