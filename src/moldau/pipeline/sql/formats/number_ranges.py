"""Whole numbers of the width of a type, from text or from wider numbers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.pipeline.sql.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    DATE,
    INTEGER,
    INTEGER_MAX,
    INTEGER_MIN,
    TIME,
    TIMESTAMP,
    SqlType,
)

DAY_MS: Final = 86_400_000
RANGES: Final[Mapping[SqlType, tuple[int, int]]] = {
    INTEGER: (INTEGER_MIN, INTEGER_MAX),
    BIGINT: (BIGINT_MIN, BIGINT_MAX),
    TIMESTAMP: (BIGINT_MIN, BIGINT_MAX),
    DATE: (INTEGER_MIN, INTEGER_MAX),
    TIME: (0, DAY_MS - 1),
}
"""The smallest and the greatest value; times as numbers."""


def whole_number(kind: SqlType) -> Callable[[Any], int]:
    """A function that gives the whole number of a value that `int` takes; ValueError where it is out of range."""
    low, high = RANGES[kind]

    def whole(value: Any) -> int:
        try:
            found = int(value)
        except (ValueError, OverflowError):
            raise ValueError(f"{value!r} is no {kind}") from None
        if not low <= found <= high:
            raise ValueError(f"{value!r} is out of the range of {kind}")
        return found

    return whole
